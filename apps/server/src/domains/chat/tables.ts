import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, index, integer, numeric, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, instant, oneOf } from '../../infra/db/columns.ts'
import { CHAT_BOT_PROBLEMS, type ChatBotProblem } from '@netlet/contract'

/**
 * The process that runs the chat bot, and its state: one row. Its times come from the database, because processes of
 * several machines compare them.
 */
export const chatBot = pgTable(
  'chat_bot',
  {
    one: boolean().primaryKey().default(true),
    /** The process that runs the bot until `leaseUntil`, which it keeps renewing. */
    holder: text(),
    leaseUntil: instant(),
    state: text().$type<'connecting' | 'connected' | 'waiting'>().notNull().default('connecting'),
    /** Since when it has that state. */
    since: createdAt(),
    /** Its name on the chat platform. */
    name: text(),
    problem: text().$type<ChatBotProblem>(),
    detail: text(),
    /** Failed tries in a row. */
    failures: integer().notNull().default(0),
    /** The earliest next try, unless another token is saved. */
    retryAt: instant(),
    /** The token that this state belongs to, hashed. */
    tokenHash: bytes(),
    /** Why its commands are not registered; null: they are, or it was not tried yet. */
    commandsProblem: text(),
    /** Channels of the settings that it cannot read. */
    unreadable: text()
      .array()
      .notNull()
      .default(sql`'{}'`)
  },
  t => [
    check('chat_bot_one', sql`${t.one}`),
    check('chat_bot_state', oneOf(t.state, ['connecting', 'connected', 'waiting'])),
    check('chat_bot_problem', oneOf(t.problem, CHAT_BOT_PROBLEMS))
  ]
)

/** The last counted message of each channel. Later ones were written without a bot. */
export const chatCursors = pgTable('chat_cursors', {
  channelId: text().primaryKey(),
  /** The platform's ids grow with time and exceed JavaScript's safe integers. */
  messageId: numeric({ precision: 20, scale: 0 }).notNull()
})

/** Members who were told how to connect their account, hashed: each is told once. */
export const chatInstructions = pgTable(
  'chat_told',
  {
    account: bytes().primaryKey(),
    at: createdAt()
  },
  t => [index('chat_told_at').on(t.at)]
)
