import type { MailState, SentMail } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { lower } from '../../infra/db/columns.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { sendAgainOf } from './send-again.ts'
import { mails } from './tables.ts'

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

export const presentMail = (row: typeof mails.$inferSelect): SentMail => ({
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
