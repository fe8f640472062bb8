import { sql } from '../../infra/db/drizzle.ts'
import { LANGUAGES, MESSAGE_AUTHORS, TICKET_STATES } from '@netlet/contract'
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

/** `message` is the first one, the others are `ticketMessages`. */
export const tickets = pgTable(
  'tickets',
  {
    id: id(),
    /** Who was logged in when sending it, and so may read it and write in it. */
    userId: ref(),
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
    assignee: ref(),
    /** When the customer last turned it to open by writing; null: with its first message. */
    waitingSince: instant(),
    /** Only of the version before: a trigger copies its answers into `ticketMessages`. */
    answer: text(),
    answeredBy: ref(),
    answeredAt: instant()
  },
  t => [
    index('tickets_email').on(lower(t.email), t.id),
    index('tickets_user').on(t.userId, t.id),
    index('tickets_assignee')
      .on(t.assignee, t.id)
      .where(sql`${t.state} <> 'closed'`),
    index('tickets_waiting').on(
      sql`(case when ${t.state} = 'open' then coalesce(${t.waitingSince}, ${t.createdAt}) else 'infinity'::timestamptz end)`,
      t.id
    ),
    check('tickets_state', oneOf(t.state, TICKET_STATES)),
    check('tickets_language', oneOf(t.language, LANGUAGES)),
    index('tickets_state').on(t.state, t.id),
    index('tickets_client').on(t.clientIp, t.createdAt.desc()),
    index('tickets_search').using('gin', sql`(${t.username} || ' ' || ${t.email} || ' ' || ${t.message}) gin_trgm_ops`)
  ]
)

/** What was written in a ticket after its first message. */
export const ticketMessages = pgTable(
  'ticket_messages',
  {
    id: id(),
    ticketId: ref()
      .notNull()
      .references(() => tickets.id, { onDelete: 'cascade' }),
    author: text({ enum: MESSAGE_AUTHORS }).notNull(),
    userId: ref(),
    text: text().notNull(),
    /** Of the mail with an operator's message. */
    mailKey: text(),
    createdAt: createdAt()
  },
  t => [
    index('ticket_messages_ticket').on(t.ticketId, t.id),
    index('ticket_messages_search').using('gin', sql`${t.text} gin_trgm_ops`),
    check('ticket_messages_author', oneOf(t.author, MESSAGE_AUTHORS))
  ]
)

export const savedReplies = pgTable(
  'saved_replies',
  { id: id(), title: text().notNull(), text: text().notNull(), createdAt: createdAt() },
  t => [
    index('saved_replies_title').on(t.title, t.id),
    index('saved_replies_search').using('gin', sql`(${t.title} || ' ' || ${t.text}) gin_trgm_ops`)
  ]
)
