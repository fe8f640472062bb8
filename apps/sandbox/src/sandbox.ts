import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fastify from 'fastify'
import { createBot } from './discord/bot.ts'
import { chatRoutes } from './discord/chat-routes.ts'
import { discordRoutes } from './discord/routes.ts'
import { echoRoutes } from './echo.ts'
import { prepare } from './kit/http.ts'
import { openOutbox } from './outbox/outbox.ts'
import { outboxRoutes } from './outbox/routes.ts'
import { registerPlatform, type PlatformOptions } from './shopify/platform.ts'

export type SandboxOptions = {
  /** 0 lets the system choose. */
  port: number
  /** Everything is kept under `sandbox/` of this folder. */
  dataDir: string
  /** The shop's address: where webhooks go until it has registered some, and where the pages lead back to. */
  shopUrl: string
  accessToken: string
  appSecret: string
  discordClientId: string
  discordClientSecret: string
  /** The key of the chat bot's reports to the shop. */
  discordBotToken?: string
} & Pick<PlatformOptions, 'fetch' | 'now' | 'saveOnlyAtClose' | 'webhookTimeoutMs' | 'webhookBackoff'>

export type Sandbox = { url: string; port: number; close(): Promise<void> }

/** Starts all stand-ins on one port of 127.0.0.1. `close` lets nothing run on and leaves the state on disk. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (process.env.NODE_ENV === 'production')
    throw new Error('The stand-ins take payments that nobody makes: they do not start with NODE_ENV=production.')
  const shopUrl = options.shopUrl.replace(/\/+$/, '')
  // A client that a 'timeout' fault keeps waiting must not keep the stand-in from ending.
  const app = fastify({ forceCloseConnections: true })
  prepare(app)
  let url = ''
  const dir = join(options.dataDir, 'sandbox')
  const platform = await registerPlatform(app, { ...options, shopUrl, dir, base: () => url })
  outboxRoutes(app, await openOutbox(dir, options.now ?? Date.now))
  const token = options.discordBotToken ?? 'sandbox-bot-token'
  discordRoutes(app, {
    botToken: token,
    clientId: options.discordClientId,
    clientSecret: options.discordClientSecret,
    shopUrl,
    now: options.now ?? Date.now
  })
  chatRoutes(app, createBot({ shopUrl, token, fetch: options.fetch ?? fetch, now: options.now ?? Date.now }))
  echoRoutes(app)
  await app.listen({ host: '127.0.0.1', port: options.port })
  const { port } = app.server.address() as AddressInfo
  url = `http://127.0.0.1:${port}`
  platform.start()
  return {
    url,
    port,
    async close() {
      await app.close()
      await platform.close()
    }
  }
}
