import { and, asc, eq, gt } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { lower } from '../../infra/db/columns.ts'
import { tickets } from './tables.ts'

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
