import { type MailDetail, type MailState, type SentMail, refuse } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { lower } from '../../infra/db/columns.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { sendAgainOf } from './send-again.ts'
import { mailContents, mails } from './tables.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Result, ok } from '../../infra/result.ts'

/** One mail with its content. Reading other people's mail is audited; the entry does not repeat the content. */
export const readMail = (ctx: AppContext, by: Actor, id: number): Promise<Result<MailDetail>> =>
  command(ctx, by, async unit => {
    const [found] = await unit.tx
      .select({ mail: mails, content: mailContents })
      .from(mails)
      .leftJoin(mailContents, eq(mailContents.mailId, mails.id))
      .where(eq(mails.id, id))
    if (!found) return refuse('not_found')
    const { mail, content } = found
    if (content) unit.audit('mail.read', id, { after: { template: mail.template } })
    return ok({
      ...presentMail(mail),
      content: content && { subject: content.subject, text: content.text, html: content.html }
    })
  })

type Query = ListInput<'id'> & { state?: MailState | undefined }

/**
 * Mails by address. A complete known address matches exactly, because its parts occur in most others and the text index
 * would visit many rows.
 */
export const mailList = defineList<Query, SentMail>({
  name: 'mails',
  table: mails,
  id: mails.id,
  sort: { id: mails.id },
  async match(db, { search, state }) {
    const inState = state === undefined ? undefined : eq(mails.state, state)
    if (!search) return { where: [inState] }
    const toThem = eq(lower(mails.to), search.toLowerCase())
    const [known] = search.includes('@') ? await db.select({ id: mails.id }).from(mails).where(toThem).limit(1) : []
    return known ? { where: [inState, toThem] } : { where: [inState], text: { in: mails.to, term: search } }
  },
  load: async (db, ids) => (await db.select().from(mails).where(among(mails.id, ids))).map(presentMail)
})

const presentMail = (row: typeof mails.$inferSelect): SentMail => ({
  id: row.id,
  to: row.to,
  template: row.template,
  kind: row.kind,
  language: row.language,
  state: row.state,
  error: row.error,
  error_code: row.errorCode,
  provider_id: row.providerId,
  created_at: iso(row.createdAt),
  sent_at: isoOrNull(row.sentAt),
  send_again: sendAgainOf(row)
})
