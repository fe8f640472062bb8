import { refuse, type Language } from '@netlet/contract'
import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import { countAsk, countForwarded, limitedClient } from '../accounts/index.ts'
import { enqueueMail, forgetWaitingMails } from '../mail/index.ts'
import { statusSubscribers } from './tables.ts'
import { readToken, statusToken } from './tokens.ts'

/** Addresses that one client may enter within an hour. */
export const ASKS_AN_HOUR = 5
/** Links that one address is mailed until it is confirmed or forgotten, and the pause between two. */
const ASKS_OF_ADDRESS = 3
const PAUSE = 10 * MINUTE
/** For how long a link can be followed. */
export const UNCONFIRMED_FOR = 2 * DAY

/**
 * Mails an address the link that confirms it. The reply is the same whether it is new, waits, or is confirmed already, so
 * that nobody learns who subscribed; 'status_mails_limit' says only how often this client asked. A stranger cannot have an
 * address flooded: it gets three links at most.
 */
export const subscribe = (
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { email, language }: { email: string; language: Language }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    // Each time counts, also where nothing is mailed: else the limit would tell which addresses are subscribed.
    const asked = await countAsk(unit, `status:${limitedClient(by)}`, { most: ASKS_AN_HOUR, withinMs: HOUR })
    if (asked === null) return refuse('status_mails_limit')
    const flooded = await countForwarded(unit, by, 'status')
    if (flooded) return flooded
    const [row] = await tx
      .insert(statusSubscribers)
      .values({ address: email.toLowerCase(), language, askedAt: now })
      .onConflictDoUpdate({
        target: statusSubscribers.address,
        set: { language, askedAt: now, asks: sql`${statusSubscribers.asks} + 1` },
        setWhere: sql`${statusSubscribers.confirmedAt} is null and ${statusSubscribers.asks} < ${ASKS_OF_ADDRESS}
          and ${statusSubscribers.askedAt} <= ${new Date(now.getTime() - PAUSE).toISOString()}::timestamptz`
      })
      .returning({ id: statusSubscribers.id, address: statusSubscribers.address, asks: statusSubscribers.asks })
    if (!row) return done
    enqueueMail(unit, {
      to: row.address,
      language,
      template: 'status-confirm',
      data: { sealed_token: sealedToken(ctx, 'confirm', row.id) },
      key: `status-confirm:${row.id}:${row.asks}`
    })
    return done
  })

/** The address is mailed from now on; nothing is kept of who asked. Following the link twice changes nothing. */
export async function confirmSubscriber(ctx: AppContext, by: Actor, token: string): Promise<Result<null>> {
  const id = readToken(ctx.secrets, 'confirm', token)
  if (id === null) return refuse('wrong_status_token')
  return command(ctx, by, async ({ tx, now }) => {
    const oldest = new Date(now.getTime() - UNCONFIRMED_FOR)
    const confirmed = await tx
      .update(statusSubscribers)
      .set({
        confirmedAt: sql`coalesce(${statusSubscribers.confirmedAt}, ${now.toISOString()}::timestamptz)`
      })
      .where(
        and(
          eq(statusSubscribers.id, id),
          sql`(${isNotNull(statusSubscribers.confirmedAt)} or ${gt(statusSubscribers.askedAt, oldest)})`
        )
      )
      .returning({ id: statusSubscribers.id })
    return confirmed.length > 0 ? done : refuse('wrong_status_token')
  })
}

/** Forgets the address of a link, and what waits to be mailed to it. Following the link twice changes nothing. */
export async function unsubscribeStatus(ctx: AppContext, by: Actor, token: string): Promise<Result<null>> {
  const id = readToken(ctx.secrets, 'unsubscribe', token)
  if (id === null) return refuse('wrong_status_token')
  return command(ctx, by, async unit => {
    const gone = await unit.tx.delete(statusSubscribers).where(eq(statusSubscribers.id, id)).returning()
    for (const { address } of gone) await forgetWaitingMails(unit, address, STATUS_TEMPLATES)
    return done
  })
}

const STATUS_TEMPLATES = ['status-incident', 'status-confirm'] as const

/** Whoever has this address is forgotten, with the account or without one. */
export async function forgetSubscriber({ tx }: Unit, address: string): Promise<void> {
  await tx.delete(statusSubscribers).where(eq(statusSubscribers.address, address.toLowerCase()))
}

export const countSubscribers = (db: Executor): Promise<number> =>
  db.$count(statusSubscribers, isNotNull(statusSubscribers.confirmedAt))

/** Of links that nobody followed. */
export const isUnconfirmed = isNull(statusSubscribers.confirmedAt)

/** A mail opens it as it is sent; its job and the log of mails hold nothing that anybody could follow. */
export const sealedToken = ({ secrets }: Pick<AppContext, 'secrets'>, purpose: 'confirm' | 'unsubscribe', id: number) =>
  secrets.seal(statusToken(secrets, purpose, id)).toString('base64')
