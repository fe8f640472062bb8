/**
 * The bot on the chat platform: coins for messages, the slash commands, and which process runs it. It owns chat_bot,
 * chat_cursors and chat_told; what a message earns is rewards' own.
 */
export { findRefusedBot } from './refused-bot.ts'
export { chatRetention } from './retention.ts'
export { chatBotRoutes } from './routes.ts'
export { startChatBot, type ChatBotTimes } from './run-bot.ts'
