import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { readChatBot } from './lease.ts'
import { lt } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { chatInstructions } from './tables.ts'

/**
 * The bot on the chat platform: coins for messages, slash commands, and which process runs it. It owns chat_bot,
 * chat_cursors and chat_told; rewards decide what a message earns.
 */
export { findRefusedBot } from './lease.ts'
export { startChatBot, type ChatBotTimes } from './run-bot.ts'

export function chatBotRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.settings.chatBot, async () => ok(await readChatBot(ctx)))
}

/** Channels' cursors are kept: there are as many as the platform has channels. */
export const chatRetention: RetentionEntry[] = [
  {
    what: 'chat_told',
    keep: { ms: 365 * DAY },
    why: 'Chat platform members that the bot told how to connect an account, so that it tells each only once.',
    remove: (unit, before, limit) => removeRows(unit, chatInstructions, lt(chatInstructions.at, before), limit),
    count: db => countRows(db, chatInstructions, chatInstructions.at)
  }
]
