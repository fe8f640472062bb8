import type { FastifyInstance } from 'fastify'
import { createBot } from './bot.ts'
import { botRoutes } from './bot-routes.ts'
import { chatRoutes } from './chat-routes.ts'
import { chatControlRoutes } from './control-routes.ts'
import { apiFaults } from './faults.ts'
import { createGateway } from './gateway.ts'
import { createInteractions } from './interactions.ts'
import { openRooms } from './rooms.ts'
import { discordRoutes } from './routes.ts'

type Options = {
  dir: string
  base: () => string
  shopUrl: string
  clientId: string
  clientSecret: string
  botToken: string
  fetch: typeof fetch
  now: () => number
}

/** The whole chat platform: sign-in, API, gateway, the rooms' page, and routes that cause faults. */
export async function registerChatPlatform(
  app: FastifyInstance,
  options: Options
): Promise<{ close(): Promise<void> }> {
  const { dir, base, shopUrl, clientId, clientSecret, now } = options
  let botToken = options.botToken
  const token = () => botToken
  // Before the routes, because a hook applies only to routes added after it.
  const faults = apiFaults(app)
  const rooms = await openRooms(dir, now)
  const gateway = createGateway({ server: app.server, base, token })
  const interactions = createInteractions({ rooms, gateway })
  const report = createBot({ shopUrl, token, fetch: options.fetch, now })
  discordRoutes(app, { clientId, clientSecret, botToken: token, shopUrl, now })
  botRoutes(app, { gateway, rooms, interactions, token })
  chatRoutes(app, { gateway, rooms, interactions, shopUrl })
  chatControlRoutes(app, {
    report,
    gateway,
    rooms,
    interactions,
    faults,
    setToken: changed => {
      botToken = changed
    }
  })
  // An open connection would keep the server from closing.
  app.addHook('preClose', async () => gateway.close())
  return { close: () => rooms.close() }
}
