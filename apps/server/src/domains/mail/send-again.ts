import { COPY_PAUSE_MINUTES, MOST_COPIES, refuse, type SendAgain } from '@netlet/contract'
import { and, eq, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { blockOf } from './blocked-addresses.ts'
import { enqueueMail } from './send-mail.ts'
import { keyPart, mails } from './tables.ts'
import type { MailRequest } from './render-mail.ts'

type Mail = typeof mails.$inferSelect

/** Can a mail be sent again, according to its row? `sendCopy` may still refuse a copy. */
export const sendAgainOf = ({ state, carried }: Pick<Mail, 'state' | 'carried'>): SendAgain => {
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
