import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { openStore, type Store } from '../kit/store.ts'
import { accessTokenRoutes, graphqlRoutes } from './graphql-routes.ts'
import { appAccessRoutes, createAppAccess } from './app-access.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { createCheckouts } from './checkout.ts'
import { controlRoutes, Import } from './control.ts'
import { createDeliveries, type Deliveries, platformBackoff, secretsOf } from './deliveries.ts'
import { faultRoutes } from './fault-routes.ts'
import { createRefunds } from './refunds.ts'
import { orderRoutes } from './order-routes.ts'
import { createResolvers } from './resolvers.ts'
import { freshState, type PlatformState, PRODUCT_STATUSES, productsOf } from './state.ts'
import { z } from 'zod'
import { formOf, sendPage, toCents, toMoney } from '../kit/http.ts'
import { customersPage, discountsPage, productsPage } from './pages.ts'
import { productPayload } from './product-payload.ts'
import { emitImport, withPrices, withStock } from './pricing.ts'

/** The pictures of the demo shelves, included here so that the first run needs no network. */
const frame = (from: string, to: string, drawing: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 600" role="img"><defs><linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs><rect width="1200" height="600" fill="url(#g)"/><g fill="none" stroke="#fff" stroke-width="6" stroke-linecap="round" stroke-linejoin="round" opacity=".9">${drawing}</g></svg>`

const rack = [0, 1, 2, 3]
  .map(
    row =>
      `<rect x="420" y="${130 + row * 90}" width="360" height="66" rx="10"/><path d="M460 ${163 + row * 90}h120M690 ${163 + row * 90}h4M730 ${163 + row * 90}h4"/>`
  )
  .join('')

const pictures: Record<string, string> = {
  isp: frame(
    '#0b6b5d',
    '#0a3c52',
    '<circle cx="600" cy="300" r="36"/><path d="M510 210a127 127 0 0 0 0 180M690 210a127 127 0 0 1 0 180M446 146a218 218 0 0 0 0 308M754 146a218 218 0 0 1 0 308M600 336v150"/>'
  ),
  datacenter: frame('#27407a', '#121d3f', rack),
  residential: frame(
    '#9a4b1f',
    '#5a2140',
    '<path d="M400 310 600 150l200 160M450 275v185h300V275M560 460V350h80v110"/><path d="M700 230v-70h40v102"/>'
  )
}

const Stock = z
  .literal('')
  .transform(() => null)
  .or(z.coerce.number().int().min(0).max(1_000_000))
  .default(null)

/** Pages of the platform's state for the demo. `/sandbox/…` has the same as JSON. */
function pageRoutes(
  app: FastifyInstance,
  { store, deliveries, now }: { store: Store<PlatformState>; deliveries: Deliveries; now: () => number }
): void {
  const { data: state } = store
  const at = () => new Date(now()).toISOString()
  app.get('/products', async (_request, reply) => sendPage(reply, productsPage(state)))
  app.get('/discounts', async (_request, reply) => sendPage(reply, discountsPage(state)))
  app.get('/customers', async (_request, reply) => sendPage(reply, customersPage(state)))
  app.post<{ Params: { id: string } }>('/products/:id/raise', async (request, reply) => {
    const found = productsOf(state).find(product => product.id === request.params.id)
    if (!found) return reply.code(404).send({ error: 'no such product' })
    const raised = found.variants.map(one => [one.id, toMoney(Math.ceil((toCents(one.price) * 110) / 100))] as const)
    withPrices(state, found, new Map(raised), at())
    await store.save()
    return reply.redirect('/products', 303)
  })
  app.post<{ Params: { id: string } }>('/products/:id/sale', async (request, reply) => {
    const found = productsOf(state).find(product => product.id === request.params.id)
    const form = formOf(request.body)
    const status = PRODUCT_STATUSES.find(one => one === form.get('status'))
    if (!found || !status) return reply.code(404).send({ error: 'no such product or status' })
    const stock = Stock.parse(form.get('stock') ?? undefined)
    const left = new Map(found.variants.map(({ id }) => [id, stock]))
    const changed = withStock({ ...found, status, unpublished: !form.has('published') }, left)
    await deliveries.emit('products/update', productPayload(withPrices(state, changed, new Map(), at())))
    return reply.redirect('/products', 303)
  })
  app.post('/online_store', async (request, reply) => {
    state.password = formOf(request.body).get('password') === 'yes'
    await store.save()
    return reply.redirect('/products', 303)
  })
  app.post('/payment_capture', async (request, reply) => {
    state.capturesLater = formOf(request.body).get('later') === 'yes'
    await store.save()
    return reply.redirect('/products', 303)
  })
  app.post('/products/import', async (request, reply) => {
    const { times } = Import.parse({ times: formOf(request.body).get('times') ?? undefined })
    await emitImport({ state, deliveries, at: at() }, times)
    return reply.redirect('/products', 303)
  })
}

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
  const giveBack = createRefunds({ store, deliveries, base, now })
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
