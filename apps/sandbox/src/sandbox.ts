import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import { incomingWebhookRoutes } from './discord/incoming-webhooks.ts'
import { openCatcher } from './hooks/catcher.ts'
import { hookRoutes } from './hooks/routes.ts'
import { html, page, prepare, sendPage } from './kit/http.ts'
import { createReporter, openOutbox, openReportKey } from './outbox/reports.ts'
import { outboxRoutes } from './outbox/routes.ts'
import { type PlatformOptions, registerPlatform } from './shopify/platform.ts'
import { botRoutes, createBot } from './discord/bot-routes.ts'
import { chatRoutes } from './discord/chat-routes.ts'
import { chatControlRoutes } from './discord/control-routes.ts'
import { apiFaults, createInteractions } from './discord/interactions.ts'
import { createGateway } from './discord/gateway.ts'
import { openRooms } from './discord/rooms.ts'
import { discordRoutes } from './discord/routes.ts'

const PLACES = [
  ['/products', 'Products', 'what the shop platform sells; change a price without telling the shop'],
  ['/discounts', 'Discounts', 'the codes that its checkout takes'],
  ['/customers', 'Customers', 'who has bought, with the tags of their levels'],
  ['/orders', 'Orders', 'what was paid; refund it, or have the buyer’s bank dispute it'],
  ['/faults', 'Faults', 'what the shop platform does wrong next, and the rotation of the app’s secret'],
  ['/app', 'App', 'what the shop may see of the platform'],
  ['/outbox', 'Mail', 'all that the shop has sent'],
  ['/chat', 'Chat', 'the channels in which the shop’s bot gives coins'],
  ['/chat/operators', 'Operators’ room', 'what the shop tells its operators'],
  ['/hooks', 'Webhooks', 'a customer’s own server: what the shop told it']
] as const

function firstPage(app: FastifyInstance, { shopUrl }: { shopUrl: string }): void {
  app.get('/', async (_request, reply) =>
    sendPage(
      reply,
      page(
        'Stand-ins',
        'Everything here is on this machine.',
        html`<h1>Stand-ins</h1>
          <section class="card">
            <p>These stand in for what the <a href="${shopUrl}">shop</a> talks to.</p>
            <ul>
              ${PLACES.map(
                ([path, name, about]) =>
                  html`<li><a href="${path}">${name}</a> <span class="quiet">${about}</span></li>`
              )}
            </ul>
          </section>`
      )
    )
  )
}

/** Target sites for clients behind a proxy: the caller's address, and sites that always answer. */
function echoRoutes(app: FastifyInstance): void {
  app.get('/echo', async request => ({
    ip: request.socket.remoteAddress ?? null,
    method: request.method,
    host: request.headers.host ?? null,
    headers: request.headers
  }))
  for (const site of ['google', 'bing', 'amazon'])
    app.get(`/check/${site}`, async (_request, reply) => reply.code(204).send())
}

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
async function registerChatPlatform(app: FastifyInstance, options: Options): Promise<{ close(): Promise<void> }> {
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
    throw new Error('The stand-ins accept payments without money, so they do not start with NODE_ENV=production.')
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
