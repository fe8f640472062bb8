import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, numeric, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, instant, oneOf } from '../../infra/db/columns.ts'
import { CHAT_BOT_PROBLEMS, type ChatBotProblem } from '@netlet/contract'

/**
 * Which process runs the chat bot, and how it is doing: one row. All its times are the database's own, since the processes
 * of several machines compare them.
 */
export const chatBot = pgTable(
  'chat_bot',
  {
    one: boolean().primaryKey().default(true),
    /** The process that runs the bot until `leaseUntil`; it renews that while it lives. */
    holder: text(),
    leaseUntil: instant(),
    state: text().$type<'connecting' | 'connected' | 'waiting'>().notNull().default('connecting'),
    /** Since when it is in that state. */
    since: createdAt(),
    /** What the chat platform calls it. */
    name: text(),
    problem: text().$type<ChatBotProblem>(),
    detail: text(),
    /** Tries in a row that failed. */
    failures: integer().notNull().default(0),
    /** Not before then, unless another token is saved. */
    retryAt: instant(),
    /** Of which token all this is said, hashed. */
    tokenHash: bytes(),
    /** Why its commands are not registered; null: they are, or nobody has tried yet. */
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

/** Up to which message each channel was counted: what follows was written while no bot was there. */
export const chatCursors = pgTable('chat_cursors', {
  channelId: text().primaryKey(),
  /** Ids of the platform grow with time; they are beyond what JavaScript's numbers hold. */
  messageId: numeric({ precision: 20, scale: 0 }).notNull()
})

/** Members that were told how to connect their account, hashed: each is told once. */
export const chatTold = pgTable(
  'chat_told',
  {
    account: bytes().primaryKey(),
    at: createdAt()
  },
  t => [index('chat_told_at').on(t.at)]
)
