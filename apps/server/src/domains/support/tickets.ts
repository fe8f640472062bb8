import { refuse, type Ticket } from '@netlet/contract'
import { and, eq, gt, sql } from 'drizzle-orm'
import { HOUR, iso } from '../../infra/clock.ts'
import type { Database } from '../../infra/db/client.ts'
import type { Actor } from '../../infra/actor.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { useCaptcha } from '../accounts/index.ts'
import { record } from '../audit/index.ts'
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
 * 'too_many' where this client has sent enough for an hour.
 * @param client the sender's network: what counts as one client
 */
export async function submitTicket(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { client, captcha, captcha_id, ...ticket }: TicketInput & { client: string }
): Promise<Result<null>> {
  const at = now()
  // Outside the transaction: a refused ticket must not bring its captcha back.
  const answered = await useCaptcha(db, captcha_id, captcha, at)
  if (!answered) return refuse('wrong_captcha')
  return db.transaction(async tx => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('tickets of ' || ${client}))`)
    const sent = await tx.$count(
      tickets,
      and(eq(tickets.clientIp, client), gt(tickets.createdAt, new Date(at.getTime() - HOUR)))
    )
    if (sent >= TICKETS_AN_HOUR) return refuse('too_many')
    await tx.insert(tickets).values({ ...ticket, clientIp: client, createdAt: at })
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

export async function deleteTicket(db: Database, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const [row] = await tx.delete(tickets).where(eq(tickets.id, id)).returning()
    if (!row) return refuse('not_found')
    await record(tx, by, { action: 'delete ticket', targetType: 'ticket', targetId: id, before: present(row) })
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
