import type { MailState, SentMail } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { mails } from './tables.ts'

type Query = ListInput<'id'> & { state?: MailState | undefined }

/** Mails, found by address. */
export const mailList = defineList<Query, SentMail>({
  name: 'mails',
  table: mails,
  id: mails.id,
  sort: { id: mails.id },
  match: (_db, { search, state }) => ({
    where: [state === undefined ? undefined : eq(mails.state, state)],
    text: search ? { in: mails.to, term: search } : undefined
  }),
  load: async (db, ids) => (await db.select().from(mails).where(among(mails.id, ids))).map(present)
})

const present = (row: typeof mails.$inferSelect): SentMail => ({
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
  sent_at: isoOrNull(row.sentAt)
})
