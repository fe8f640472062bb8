import { type Language, type OwnTicketThread, refuse } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { limitedClient, networksOf, widestNetwork } from '../../infra/http/client-address.ts'
import { refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { type Result, done } from '../../infra/result.ts'
import { countClientRequest, countForwarded, countRequest, tryCaptcha } from '../accounts/index.ts'
import { addMessage, lockTicket, publish } from './answer-ticket.ts'
import { tickets } from './tables.ts'
import { readOwnTicket } from './tickets.ts'

/** Tickets that one client may send in an hour. */
export const TICKETS_AN_HOUR = 10

/** Messages that one account, and one client, may write in its tickets in an hour. */
export const MESSAGES_AN_HOUR = 30

type TicketInput = {
  username: string
  email: string
  phone: string
  message: string
  captcha: number
  captcha_id: string
}

/**
 * Stores a ticket after a captcha, which is used up in any case. It belongs to the account that is logged in: an e-mail
 * address alone, which anyone could type, gives no access. Refuses 'wrong_captcha', and 'too_many' after
 * too many tickets or wrong answers of this client within an hour.
 */
export async function submitTicket(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { captcha, captcha_id, ...ticket }: TicketInput,
  language: Language = 'en'
): Promise<Result<null>> {
  // Before the command that may be refused, because a refused ticket must not restore its captcha.
  const refused = await tryCaptcha(ctx, by, { id: captcha_id, answer: captcha })
  if (refused) return refused
  const client = limitedClient(by)
  const userId = by.kind === 'user' && by.impersonator === null ? by.id : null
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'ticketClient', widestNetwork(client))
    const recent = gt(tickets.createdAt, new Date(now.getTime() - HOUR))
    for (const { cidr, timesAll } of networksOf(client)) {
      const sent = await tx.$count(tickets, and(sql`${tickets.clientIp} <<= ${cidr}::inet`, recent))
      if (sent >= TICKETS_AN_HOUR * timesAll) return refuse('too_many')
    }
    const flooded = await countForwarded(unit, by, 'ticket')
    if (flooded) return flooded
    const [made] = await tx
      .insert(tickets)
      .values({ ...ticket, language, clientIp: client, userId, createdAt: now })
      .returning({ id: tickets.id, userId: tickets.userId })
    unit.publish('ticket', made?.id)
    if (made) publish(unit, made)
    return done
  })
}

/**
 * Adds a customer's message to a ticket of the account, which then waits for an answer. The same words again, as the
 * newest message, change nothing. Refuses 'ticket_closed', 'ticket_full', and 'too_many' after too many within an hour.
 */
export async function writeInTicket(
  ctx: AppContext,
  by: UserActor,
  id: number,
  text: string
): Promise<Result<OwnTicketThread>> {
  return (
    refuseWhileImpersonating(by) ??
    command(ctx, by, async unit => {
      const limit = { most: MESSAGES_AN_HOUR, withinMs: HOUR }
      const ofAccount = await countRequest(unit, `ticket-message-of:${by.id}`, limit)
      if (ofAccount === null || !(await countClientRequest(unit, 'ticket-message', by, limit)))
        return refuse('too_many')
      const row = await lockTicket(unit, id)
      if (!row || row.userId !== by.id) return refuse('not_found')
      if (row.state === 'closed') return refuse('ticket_closed')
      const added = await addMessage(unit, row, { author: 'customer', text })
      if (!added.ok) return added
      if (row.state !== 'open')
        await unit.tx.update(tickets).set({ state: 'open', waitingSince: unit.now }).where(eq(tickets.id, id))
      publish(unit, row)
      return readOwnTicket(unit.tx, by.id, id)
    })
  )
}
