import { sql } from 'drizzle-orm'
import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet } from '../../infra/db/columns.ts'

export const faqs = pgTable(
  'faqs',
  { id: id(), question: text().notNull(), answer: text().notNull(), createdAt: createdAt() },
  t => [index('faqs_search').using('gin', sql`(${t.question} || ' ' || ${t.answer}) gin_trgm_ops`)]
)

export const tickets = pgTable(
  'tickets',
  {
    id: id(),
    username: text().notNull(),
    email: text().notNull(),
    phone: text().notNull(),
    message: text().notNull(),
    /** The sender's network, for the limit of tickets per client. */
    clientIp: inet(),
    createdAt: createdAt()
  },
  t => [
    index('tickets_client').on(t.clientIp, t.createdAt.desc()),
    index('tickets_search').using('gin', sql`(${t.username} || ' ' || ${t.email} || ' ' || ${t.message}) gin_trgm_ops`)
  ]
)
