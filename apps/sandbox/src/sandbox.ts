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
  /** The state is stored in its subfolder `sandbox/`. */
  dataDir: string
  /** The shop's address: target of webhooks until the shop registers some, and of links on the pages. */
  shopUrl: string
  accessToken: string
  appSecret: string
  discordClientId: string
  discordClientSecret: string
  /** The chat bot's token, which also signs the reports of an operator's own bot. */
  discordBotToken?: string
  /** Verifies the shop's webhooks until another secret is entered on the page. */
  hookSecret?: string
} & Pick<PlatformOptions, 'apiKey' | 'fetch' | 'now' | 'saveOnlyAtClose' | 'webhookTimeoutMs' | 'webhookBackoff'>

export type Sandbox = { url: string; port: number; close(): Promise<void> }

/** Starts all stand-ins on one port of 127.0.0.1. `close` stops everything and saves the state. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (process.env.NODE_ENV === 'production')
    throw new Error('The stand-ins take payments that nobody makes: they do not start with NODE_ENV=production.')
  const shopUrl = options.shopUrl.replace(/\/+$/, '')
  // A client that waits because of a 'timeout' fault must not keep the stand-in running.
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
