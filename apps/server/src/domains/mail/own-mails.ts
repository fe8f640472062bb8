import { and, asc, eq, gt } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { wentTo, type Recipient } from './recipient.ts'
import { mailContents, mails } from './tables.ts'

/** A user's mails, including former addresses, for the export of personal data, in batches, with stored content. */
export async function* exportMails(db: Executor, user: Recipient): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select({ id: mails.id, mail: mails, subject: mailContents.subject, text: mailContents.text })
      .from(mails)
      .leftJoin(mailContents, eq(mailContents.mailId, mails.id))
      .where(and(wentTo(db, user), gt(mails.id, after)))
      .orderBy(asc(mails.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(({ mail, subject, text }) => ({
      to: mail.to,
      template: mail.template,
      kind: mail.kind,
      language: mail.language,
      state: mail.state,
      why: mail.errorCode,
      created_at: iso(mail.createdAt),
      sent_at: isoOrNull(mail.sentAt),
      subject,
      text
    }))
}
