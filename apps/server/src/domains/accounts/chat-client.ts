import type { SettingTestResult, Settings } from '@netlet/contract'
import { createDiscord, type Discord, type DiscordResult } from '../../integrations/discord/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { findRefusal, noteRefused, noteAccepted, type Found } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'

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

type ChatClient = {
  settings: Settings
  discord: Discord
  /** Reports to operators if the platform refuses the client's secret. Visitors cannot fix that. */
  noteClient: (result: DiscordResult<unknown>) => Promise<void>
}

/** A client of the chat platform with the saved settings. */
export async function connectChat(ctx: AppContext): Promise<ChatClient> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const discord = createDiscord({
    clientId: settings.discord_client_id,
    clientSecret: settings.discord_client_secret,
    baseUrl: ctx.config.discordUrl
  })
  return {
    settings,
    discord,
    async noteClient(result) {
      if (result.ok) await noteAccepted(ctx, 'chat_client')
      else if (result.reason === 'unauthorized')
        await noteRefused(ctx, 'chat_client', clientOf(settings), result.message)
    }
  }
}

const clientOf = ({ discord_client_id: id, discord_client_secret: secret }: Settings): string => `${id}\n${secret}`

/** The client's secret, if the chat platform refuses it. */
export async function findRefusedClient({ db, secrets }: Pick<AppContext, 'db' | 'secrets'>): Promise<Found[]> {
  return findRefusal(db, 'chat_client', clientOf(await readSettings(db, secrets)))
}
