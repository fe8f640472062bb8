import { sql } from '../../infra/db/drizzle.ts'
import { LANGUAGES, TICKET_STATES } from '@netlet/contract'
import { check, index, pgTable, text } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, lower, oneOf, ref, translations } from '../../infra/db/columns.ts'

export const faqs = pgTable(
  'faqs',
  {
    id: id(),
    question: text().notNull(),
    answer: text().notNull(),
    translations: translations(),
    createdAt: createdAt()
  },
  t => [
    index('faqs_search').using(
      'gin',
      sql`(${t.question} || ' ' || ${t.answer} || ' ' || coalesce(${t.translations} #>> '{zh-CN,question}', '') || ' ' || coalesce(${t.translations} #>> '{zh-CN,answer}', '')) gin_trgm_ops`
    )
  ]
)

export const tickets = pgTable(
  'tickets',
  {
    id: id(),
    username: text().notNull(),
    email: text().notNull(),
    phone: text().notNull(),
    message: text().notNull(),
    /** The sender's network, for the limit of each client. */
    clientIp: inet(),
    createdAt: createdAt(),
    state: text({ enum: TICKET_STATES }).notNull().default('open'),
    /** The sender's browser's. The answer is written in it. */
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    /** Mailed with the key `ticket:<id>:answer`. */
    answer: text(),
    answeredBy: ref(),
    answeredAt: instant()
  },
  t => [
    index('tickets_email').on(lower(t.email), t.id),
    check('tickets_state', oneOf(t.state, TICKET_STATES)),
    check('tickets_language', oneOf(t.language, LANGUAGES)),
    index('tickets_state').on(t.state, t.id),
    index('tickets_client').on(t.clientIp, t.createdAt.desc()),
    index('tickets_search').using('gin', sql`(${t.username} || ' ' || ${t.email} || ' ' || ${t.message}) gin_trgm_ops`)
  ]
)
