import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fastify from 'fastify'
import { registerChatPlatform } from './discord/chat-platform.ts'
import { incomingWebhookRoutes } from './discord/incoming-webhooks.ts'
import { echoRoutes } from './echo.ts'
import { firstPage } from './first-page.ts'
import { openCatcher } from './hooks/catcher.ts'
import { hookRoutes } from './hooks/routes.ts'
import { prepare } from './kit/http.ts'
import { openOutbox } from './outbox/outbox.ts'
import { openReportKey } from './outbox/report-key.ts'
import { createReporter } from './outbox/reports.ts'
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
  /** The chat bot's token, and the key of what an operator's own bot reports to the shop. */
  discordBotToken?: string
  /** What signatures of the shop's webhooks are checked with until another one is entered on the page. */
  hookSecret?: string
} & Pick<PlatformOptions, 'apiKey' | 'fetch' | 'now' | 'saveOnlyAtClose' | 'webhookTimeoutMs' | 'webhookBackoff'>

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
  const outside = { shopUrl, fetch: options.fetch ?? fetch, now: options.now ?? Date.now }
  const reporter = createReporter({ ...outside, privateKey: await openReportKey(dir) })
  outboxRoutes(app, await openOutbox(dir, outside.now), reporter)
  const chat = await registerChatPlatform(app, {
    dir,
    base: () => url,
    shopUrl,
    clientId: options.discordClientId,
    clientSecret: options.discordClientSecret,
    botToken: options.discordBotToken ?? 'sandbox-bot-token',
    fetch: options.fetch ?? fetch,
    now: options.now ?? Date.now
  })
  incomingWebhookRoutes(app, options.now ?? Date.now)
  echoRoutes(app)
  firstPage(app, { shopUrl })
  const hooks = { now: options.now ?? Date.now, secret: options.hookSecret ?? '' }
  await hookRoutes(app, await openCatcher(dir, hooks))
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
      await chat.close()
    }
  }
}
