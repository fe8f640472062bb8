import { and, asc, gt, ilike } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { exactly } from './address.ts'
import { mails } from './tables.ts'

const BATCH = 500

/** The log of the mails to an address for the download of the own data, in batches. What they said is not kept. */
export async function* exportMails(db: Executor, address: string): AsyncGenerator<object[]> {
  for (let last = 0; ;) {
    const rows = await db
      .select()
      .from(mails)
      .where(and(ilike(mails.to, exactly(address)), gt(mails.id, last)))
      .orderBy(asc(mails.id))
      .limit(BATCH)
    yield rows.map(mail => ({
      to: mail.to,
      template: mail.template,
      kind: mail.kind,
      language: mail.language,
      state: mail.state,
      why: mail.errorCode,
      created_at: iso(mail.createdAt),
      sent_at: isoOrNull(mail.sentAt)
    }))
    if (rows.length < BATCH) return
    last = rows.at(-1)?.id ?? last
  }
}
