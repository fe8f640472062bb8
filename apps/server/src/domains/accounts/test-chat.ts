import type { SettingTestResult } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { connectChat } from './chat-client.ts'

/** Asks the chat platform whether it accepts the saved client, and the bot if there is one. */
export async function testChat(ctx: AppContext): Promise<SettingTestResult> {
  const { settings, discord, noteClient } = await connectChat(ctx)
  const client = await discord.checkClient()
  await noteClient(client)
  if (!client.ok)
    return {
      ok: false,
      outcome: client.reason === 'not_configured' ? 'not_configured' : 'failed',
      params: {},
      detail: client.message
    }
  if (settings.discord_bot_token === '') return { ok: true, outcome: 'chat_answers', params: {}, detail: null }
  const bot = await discord.botUser(settings.discord_bot_token)
  if (bot.ok) return { ok: true, outcome: 'chat_bot_answers', params: { bot: bot.value.name }, detail: null }
  const detail = bot.reason === 'unauthorized' ? 'The chat platform refused the bot token.' : bot.message
  return { ok: false, outcome: 'failed', params: {}, detail }
}
