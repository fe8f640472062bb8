/** What the shop holds of people in tickets: their export, and its removal with their account. */
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { and, asc, eq, gt, inArray, isNull, ne, or } from '../../infra/db/drizzle.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { ticketMessages, tickets } from './tables.ts'
import { shownToCustomer } from './tickets.ts'

type Person = { id: number; email: string }

const sentWith = (email: string) => eq(lower(tickets.email), email.toLowerCase())

/** Deletes the tickets of an account and those with its address, with all messages. An operator's get no assignee. */
export async function forgetSender(unit: Unit, { id, email }: Person): Promise<void> {
  const { tx } = unit
  const removed = await tx
    .delete(tickets)
    .where(or(eq(tickets.userId, id), sentWith(email)))
    .returning({ id: tickets.id })
  const left = await tx
    .update(tickets)
    .set({ assignee: null })
    .where(and(eq(tickets.assignee, id), ne(tickets.state, 'closed')))
    .returning({ id: tickets.id })
  for (const ticket of [...removed, ...left]) unit.publish('ticket', ticket.id)
}

/**
 * The tickets of an account, and those of visitors with its address, for the export of personal data, in batches. Notes
 * are for operators only.
 */
export async function* exportTickets(db: Executor, { id, email }: Person): AsyncGenerator<object[]> {
  const theirs = or(eq(tickets.userId, id), and(isNull(tickets.userId), sentWith(email)))
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(tickets)
      .where(and(theirs, gt(tickets.id, after)))
      .orderBy(asc(tickets.id))
      .limit(limit)
  )
  for await (const rows of pages) {
    const messages = await db
      .select()
      .from(ticketMessages)
      .where(
        and(
          inArray(
            ticketMessages.ticketId,
            rows.map(row => row.id)
          ),
          shownToCustomer
        )
      )
      .orderBy(asc(ticketMessages.id))
    yield rows.map(row => ({
      username: row.username,
      email: row.email,
      phone: row.phone,
      message: row.message,
      state: row.state,
      created_at: iso(row.createdAt),
      messages: messages
        .filter(({ ticketId }) => ticketId === row.id)
        .map(({ author, text, createdAt }) => ({ author, text, created_at: iso(createdAt) }))
    }))
  }
}
