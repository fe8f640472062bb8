import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { openStore } from '../kit/store.ts'
import { accessTokenRoutes } from './access-tokens.ts'
import { appAccessRoutes, createAppAccess } from './app-access.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { createCheckouts } from './checkout.ts'
import { controlRoutes } from './control.ts'
import { createDeliveries, platformBackoff } from './deliveries.ts'
import { faultRoutes } from './fault-routes.ts'
import { createGiveBack } from './give-back.ts'
import { graphqlRoutes } from './graphql-routes.ts'
import { orderRoutes } from './order-routes.ts'
import { pageRoutes } from './page-routes.ts'
import { pictures } from './pictures.ts'
import { createResolvers } from './resolvers.ts'
import { freshState } from './state.ts'
import { secretsOf } from './webhook-request.ts'

export type PlatformOptions = {
  dir: string
  shopUrl: string
  accessToken: string
  /** The app's client id; with the secret it gets access tokens that expire. */
  apiKey?: string
  appSecret: string
  /** The stand-in's address, known only when it listens. */
  base: () => string
  fetch?: typeof fetch
  now?: () => number
  /** Keeps the state in memory until `close`. */
  saveOnlyAtClose?: boolean
  webhookTimeoutMs?: number
  webhookBackoff?: (tries: number) => number
}

/** The stand-in for the shop platform: API, checkout, webhooks, and routes that cause faults. */
export async function registerPlatform(app: FastifyInstance, options: PlatformOptions) {
  const { base, now = Date.now } = options
  const store = await openStore(join(options.dir, 'state.json'), freshState, {
    onlyAtClose: options.saveOnlyAtClose ?? false
  })
  const deliveries = createDeliveries({
    store,
    appSecret: options.appSecret,
    fallbackShopUrl: options.shopUrl,
    fetch: options.fetch ?? fetch,
    now,
    timeoutMs: options.webhookTimeoutMs ?? 5000,
    backoff: options.webhookBackoff ?? platformBackoff
  })
  const checkouts = createCheckouts({ store, deliveries, base, now })
  const giveBack = createGiveBack({ store, deliveries, base, now })
  const access = createAppAccess({ now })
  const resolvers = createResolvers(store, {
    base,
    access,
    now: () => new Date(now()),
    giveBack,
    emit: (topic, payload) => deliveries.emit(topic, payload)
  })
  const { accessToken, appSecret, apiKey = 'sandbox-api-key' } = options
  const isTaken = accessTokenRoutes(app, { apiKey, secrets: () => secretsOf(store.data, appSecret), accessToken, now })
  const graphqlFaults = graphqlRoutes(app, { isTaken, resolvers })
  checkoutRoutes(app, { state: store.data, checkouts, shopUrl: options.shopUrl, now })
  pageRoutes(app, { store, deliveries, now })
  appAccessRoutes(app, access)
  faultRoutes(app, { store, appSecret, deliveries, graphqlFaults, giveBack })
  orderRoutes(app, { store, giveBack })
  controlRoutes(app, { store, checkouts, deliveries, giveBack, now })

  app.get<{ Params: { name: string } }>('/files/:name', async (request, reply) => {
    const picture = pictures[request.params.name.replace(/\.svg$/, '')]
    if (!picture) return reply.code(404).send({ error: 'no such file' })
    return reply.type('image/svg+xml').header('cache-control', 'public, max-age=3600').send(picture)
  })

  return {
    start: deliveries.start,
    async close(): Promise<void> {
      await deliveries.close()
      await store.close()
    }
  }
}
