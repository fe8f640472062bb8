import {
  COPY_PAUSE_MINUTES,
  MOST_COPIES,
  type MailDetail,
  type MailState,
  type SendAgain,
  type SentMail,
  refuse
} from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE, iso, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lower } from '../../infra/db/columns.ts'
import { type SQL, and, eq, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { blockOf } from './blocked-addresses.ts'
import type { MailRequest } from './render-mail.ts'
import { enqueueMail } from './send-mail.ts'
import { keyPart, mailContents, mails } from './tables.ts'

type Mail = typeof mails.$inferSelect

/** Can a mail be sent again, according to its row? `sendCopy` may still refuse a copy. */
const sendAgainOf = ({ state, carried }: Pick<Mail, 'state' | 'carried'>): SendAgain => {
  if (state === 'waiting') return 'waits'
  if (state === 'skipped') return 'needless'
  return carried ? 'possible' : 'not_kept'
}
/** The same as a condition. It must match what `sendAgainOf` calls possible. */
export const canBeSentAgain: SQL = sql`(${mails.state} not in ('waiting', 'skipped') and ${mails.carried} is not null)`

/**
 * Sends a failed mail again, or a copy of a sent one that was lost or came back. `not_found` if there is no such mail,
 * or its data is no longer kept.
 */
export const sendAgain = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [mail] = await unit.tx.select().from(mails).where(eq(mails.id, id)).for('update')
    if (!mail || sendAgainOf(mail) !== 'possible') return refuse('not_found')
    return mail.state === 'failed' ? sendFailed(unit, mail) : sendCopy(unit, mail)
  })

async function sendFailed(unit: Unit, { id, carried, template }: Mail): Promise<Result<null>> {
  // Unclaimed, so that the next job takes it at once.
  await unit.tx
    .update(mails)
    .set({ state: 'waiting', carried: null, uncertainTries: 0, claimedAt: new Date(0) })
    .where(eq(mails.id, id))
  // The row keeps its own date, which tells whose mail it was.
  enqueueMail(unit, { ...(carried as MailRequest), again_at: unit.now.toISOString() })
  unit.audit('mail.send_again', id, { after: { template } })
  return done
}

/**
 * A copy has its own key, because mail services and mailboxes would drop a repeated one. The key begins with the first
 * one, so that the same searches find it.
 */
async function sendCopy(unit: Unit, { id, to, key, carried, template, kind, language }: Mail): Promise<Result<null>> {
  const { tx, now } = unit
  const request = carried as MailRequest
  const first = key.replace(COPY, '')
  // Lock the first mail, or else the requested copy, so that concurrent requests wait.
  await tx.select({ id: mails.id }).from(mails).where(eq(mails.key, first)).for('update')
  const known = await tx
    .select({ key: mails.key, at: sql<Date>`coalesce(${mails.sentAt}, ${mails.createdAt})`.mapWith(mails.createdAt) })
    .from(mails)
    .where(
      and(
        // For the index of both parts.
        eq(keyPart(mails.key, 2), first.split(':')[1] ?? ''),
        eq(keyPart(mails.key, 1), first.split(':')[0] ?? ''),
        sql`(${mails.key} = ${first} or starts_with(${mails.key}, ${`${first}:copy:`}))`
      )
    )
  const copies = Math.max(0, ...known.map(one => Number(COPY.exec(one.key)?.[1] ?? 0)))
  if (copies >= MOST_COPIES) return refuse('mail_copied_often', { params: { count: MOST_COPIES } })
  const last = Math.max(...known.map(({ at }) => at.getTime()))
  if (now.getTime() - last < COPY_PAUSE_MINUTES * MINUTE)
    return refuse('mail_sent_lately', { params: { minutes: COPY_PAUSE_MINUTES } })
  if ((await blockOf(tx, request.to)) === 'bounced') return refuse('mail_address_blocked')
  const copy = `${first}:copy:${copies + 1}`
  // Logged at once, so that the next request finds it; unclaimed.
  await tx
    .insert(mails)
    .values({ key: copy, to, template, kind, language, jobId: '', claimedAt: new Date(0), tries: 0, createdAt: now })
  enqueueMail(unit, { ...request, key: copy })
  unit.audit('mail.send_again', id, { after: { template, copy: copies + 1 } })
  return done
}

const COPY = /:copy:(\d+)$/

/** The keys that a mail and its copies may have. */
export const keysOfCopies = (key: SQL): SQL =>
  sql`unnest(array[${key}, ${sql.join(
    Array.from({ length: MOST_COPIES }, (_, at) => sql`${key} || ${sql.raw(`':copy:${at + 1}'`)}`),
    sql`, `
  )}])`

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
