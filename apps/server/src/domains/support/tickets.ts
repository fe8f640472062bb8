import { refuse, type Ticket } from '@netlet/contract'
import { and, eq, gt, sql } from 'drizzle-orm'
import { HOUR, iso } from '../../infra/clock.ts'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, type Result } from '../../infra/result.ts'
import { clientNetwork, tryCaptcha } from '../accounts/index.ts'
import { tickets } from './tables.ts'

/** Tickets that one client may send within an hour. */
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
 * Stores a ticket whose captcha was answered rightly; the captcha is used up either way. Refuses 'wrong_captcha', and
 * 'too_many' where this client has sent enough for an hour, or too many wrong answers.
 */
export async function submitTicket(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { captcha, captcha_id, ...ticket }: TicketInput
): Promise<Result<null>> {
  // Before the command that may be refused: a refused ticket must not bring its captcha back.
  const refused = await tryCaptcha(ctx, by, { id: captcha_id, answer: captcha })
  if (refused) return refused
  const client = clientNetwork(by.ip)
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'ticketClient', client)
    const sent = await tx.$count(
      tickets,
      and(eq(tickets.clientIp, client), gt(tickets.createdAt, new Date(now.getTime() - HOUR)))
    )
    if (sent >= TICKETS_AN_HOUR) return refuse('too_many')
    const [made] = await tx
      .insert(tickets)
      .values({ ...ticket, clientIp: client, createdAt: now })
      .returning({ id: tickets.id })
    unit.publish('ticket', made?.id)
    return done
  })
}

/** Tickets, found by who sent them and what they say. */
export const ticketList = defineList<ListInput<'id'>, Ticket>({
  name: 'tickets',
  table: tickets,
  id: tickets.id,
  sort: { id: tickets.id },
  match: (_db, { search }) => ({
    text: search
      ? { in: sql`(${tickets.username} || ' ' || ${tickets.email} || ' ' || ${tickets.message})`, term: search }
      : undefined
  }),
  load: async (db, ids) => (await db.select().from(tickets).where(among(tickets.id, ids))).map(present)
})

export async function deleteTicket(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.delete(tickets).where(eq(tickets.id, id)).returning()
    if (!row) return refuse('not_found')
    unit.audit('ticket.delete', id, { before: present(row) })
    return done
  })
}

const present = (row: typeof tickets.$inferSelect): Ticket => ({
  id: row.id,
  username: row.username,
  email: row.email,
  phone: row.phone,
  message: row.message,
  created_at: iso(row.createdAt)
})
