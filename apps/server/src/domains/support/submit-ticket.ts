import { refuse, type Language } from '@netlet/contract'
import { and, asc, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { HOUR, iso } from '../../infra/clock.ts'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { done, type Result } from '../../infra/result.ts'
import { limitedClient, networksOf, widestNetwork } from '../../infra/http/client-network.ts'
import { countForwarded, tryCaptcha } from '../accounts/index.ts'
import { tickets } from './tables.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { lower } from '../../infra/db/columns.ts'

const sentWith = (email: string) => eq(lower(tickets.email), email.toLowerCase())

export async function forgetSender(unit: Unit, email: string): Promise<void> {
  const removed = await unit.tx.delete(tickets).where(sentWith(email)).returning({ id: tickets.id })
  for (const { id } of removed) unit.publish('ticket', id)
}

/** The tickets with this e-mail address for the export of personal data, in batches. */
export async function* exportTickets(db: Executor, email: string): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(tickets)
      .where(and(sentWith(email), gt(tickets.id, after)))
      .orderBy(asc(tickets.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(row => ({
      username: row.username,
      email: row.email,
      phone: row.phone,
      message: row.message,
      state: row.state,
      answer: row.answer,
      created_at: iso(row.createdAt)
    }))
}

/** Tickets that one client may send in an hour. */
export const TICKETS_AN_HOUR = 10

type TicketInput = {
  username: string
  email: string
  phone: string
  message: string
  captcha: number
  captcha_id: string
}

/**
 * Stores a ticket after a captcha, which is used up in any case. Refuses 'wrong_captcha', and 'too_many' after too many
 * tickets or wrong answers of this client within an hour.
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
      .values({ ...ticket, language, clientIp: client, createdAt: now })
      .returning({ id: tickets.id })
    unit.publish('ticket', made?.id)
    return done
  })
}
