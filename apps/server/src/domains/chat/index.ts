/**
 * The bot on the chat platform: coins for messages, slash commands, and which process runs it. It owns chat_bot,
 * chat_cursors and chat_told; rewards decide what a message earns.
 */
export { findRefusedBot } from './lease.ts'
export { chatRetention } from './retention.ts'
export { chatBotRoutes } from './routes.ts'
export { startChatBot, type ChatBotTimes } from './run-bot.ts'
