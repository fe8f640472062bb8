import type { Settings } from '@netlet/contract'
import { createDiscord, type Discord, type DiscordResult } from '../../integrations/discord/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { findRefusal, noteRefused, noteAccepted, type Found } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'

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
