import type { Settings } from '@netlet/contract'
import { createDiscord, type Discord, type DiscordResult } from '../../integrations/discord/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { findRefusal, noteRefused, noteTaken, type Found } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'

type ChatClient = {
  settings: Settings
  discord: Discord
  /** Tells operators where the platform refused the client's secret, which no visitor who signs in can mend. */
  noteClient: (result: DiscordResult<unknown>) => Promise<void>
}

/** The chat platform as the saved settings name this shop there. */
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
      if (result.ok) await noteTaken(ctx, 'chat_client')
      else if (result.reason === 'unauthorized')
        await noteRefused(ctx, 'chat_client', clientOf(settings), result.message)
    }
  }
}

const clientOf = ({ discord_client_id: id, discord_client_secret: secret }: Settings): string => `${id}\n${secret}`

/** The client's secret, where the chat platform refuses it. */
export async function findRefusedClient({ db, secrets }: Pick<AppContext, 'db' | 'secrets'>): Promise<Found[]> {
  return findRefusal(db, 'chat_client', clientOf(await readSettings(db, secrets)))
}
