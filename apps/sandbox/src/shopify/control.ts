import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Store } from '../kit/store.ts'
import type { Checkouts } from './checkout.ts'
import { customerFor, nextId, type PlatformProduct, type PlatformState, PRODUCT_STATUSES, productsOf } from './state.ts'
import type { Deliveries } from './deliveries.ts'
import { type Refunds, refundRoutes } from './refunds.ts'
import { productPayload } from './product-payload.ts'
import { emitImport, withFlags, withPrices, withStock } from './pricing.ts'

const Amount = z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, 'has to be an amount like "12.50"')

const Line = z.object({ variantId: z.string(), quantity: z.number().int().min(1) })
const Pay = z
  .object({
    amount: Amount.optional(),
    email: z.string().optional(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/)
      .optional(),
    test: z.boolean().optional(),
    lines: z.array(Line).min(1).optional(),
    /** The amount that a gift card pays. */
    gift_card: Amount.optional(),
    /** The rest was paid by a bank deposit, which the platform does not refund by itself. */
    bank_deposit: z.boolean().optional(),
    /** By a wallet whose checkout drops the attributes of the cart. */
    loses_attributes: z.boolean().optional()
  })
  .default({})
const Discount = z
  .object({
    code: z.string().trim().min(1).max(60),
    type: z.enum(['percentage', 'fixed_amount']).default('percentage'),
    value: Amount,
    usageLimit: z.number().int().min(1).nullable().optional(),
    oncePerCustomer: z.boolean().optional(),
    startsAt: z.iso.datetime().optional(),
    endsAt: z.iso.datetime().nullable().optional(),
    minimum: z.number().int().min(1).optional(),
    combines: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    /** Ids; null for everyone. */
    customers: z.array(z.string()).nullable().optional()
  })
  .refine(one => one.type !== 'percentage' || Number(one.value) <= 100, 'A percentage is at most 100')
const Status = z.enum(PRODUCT_STATUSES)
const NewVariant = z.object({
  options: z.array(z.string().min(1)).min(1).max(3).default(['Default Title']),
  price: Amount
})
const NewProduct = z.object({
  title: z.string().min(1),
  descriptionHtml: z.string().default(''),
  tags: z.array(z.string()).default([]),
  collections: z.array(z.string()).default([]),
  status: Status.default('ACTIVE'),
  unpublished: z.boolean().optional(),
  publishedAt: z.iso.datetime().optional(),
  subscriptionOnly: z.boolean().optional(),
  /** The platform gives a product without options this one. */
  optionNames: z.array(z.string().min(1)).min(1).max(3).default(['Title']),
  variants: z.array(NewVariant).min(1).max(2048)
})
const ProductChange = z.object({
  title: z.string().min(1).optional(),
  descriptionHtml: z.string().optional(),
  tags: z.array(z.string()).optional(),
  collections: z.array(z.string()).optional(),
  status: Status.optional(),
  unpublished: z.boolean().optional(),
  publishedAt: z.iso.datetime().optional(),
  subscriptionOnly: z.boolean().optional(),
  optionNames: z.array(z.string().min(1)).min(1).max(3).optional(),
  /** Changes these variants only. `stock`: how many are left; null: not counted. */
  variants: z
    .array(
      z.object({
        id: z.string(),
        price: Amount.optional(),
        stock: z.number().int().min(0).nullable().optional(),
        shipped: z.boolean().optional(),
        unpublished: z.boolean().optional()
      })
    )
    .optional(),
  /** Sends no webhook, so that the shop has to find the change by itself. */
  silent: z.boolean().default(false)
})
/** Updates of each product. */
export const Import = z.object({ times: z.coerce.number().int().min(1).max(1000).default(100) })
const Deletion = z.object({ silent: z.boolean().default(false) }).default({ silent: false })
const Release = z.object({ order: z.enum(['oldest_first', 'newest_first']).default('newest_first') }).default({
  order: 'newest_first'
})
const Redeliver = z
  .object({ times: z.number().int().min(1).max(50).default(1), wrong_signature: z.boolean().default(false) })
  .default({ times: 1, wrong_signature: false })

type ById = { Params: { id: string } }

/** /sandbox/…: causes faults of the platform, and shows its state. README.md lists the routes. */
export function controlRoutes(
  app: FastifyInstance,
  options: {
    store: Store<PlatformState>
    checkouts: Checkouts
    deliveries: Deliveries
    giveBack: Refunds
    now: () => number
  }
): void {
  const { store, checkouts, deliveries, giveBack, now } = options
  const { data: state } = store
  const at = () => new Date(now()).toISOString()
  const findProduct = (id: string) => productsOf(state).find(product => product.id === id)

  app.get('/sandbox/orders', async () => state.orders.toReversed())
  app.get('/sandbox/checkouts', async () => state.checkouts.toReversed())
  app.get('/sandbox/products', async () => productsOf(state))
  app.get('/sandbox/customers', async () => (state.customers ?? []).toReversed())
  app.get('/sandbox/discounts', async () => state.discountCodes)
  app.get('/sandbox/webhooks', async () => ({
    subscriptions: state.subscriptions,
    deliveries: state.deliveries.toReversed()
  }))

  app.post<{ Params: { token: string } }>('/sandbox/checkouts/:token/pay', async (request, reply) => {
    const { email, gift_card, bank_deposit, loses_attributes, ...rest } = Pay.parse(request.body)
    const instead = { ...rest, giftCard: gift_card, bankDeposit: bank_deposit, losesAttributes: loses_attributes }
    const outcome = await checkouts.pay(request.params.token, email ?? '', instead)
    if (!outcome.ok) return reply.code(404).send({ error: outcome.reason })
    return { order: outcome.order, paid_before: outcome.paidBefore }
  })

  refundRoutes(app, { store, giveBack, now })

  app.post('/sandbox/discounts', async request => {
    const discount = Discount.parse(request.body)
    state.discountCodes = state.discountCodes.filter(one => one.code.toLowerCase() !== discount.code.toLowerCase())
    state.discountCodes.push(discount)
    await store.save()
    return discount
  })

  app.delete<{ Params: { code: string } }>('/sandbox/discounts/:code', async request => {
    const code = request.params.code.toLowerCase()
    state.discountCodes = state.discountCodes.filter(one => one.code.toLowerCase() !== code)
    await store.save()
    return { deleted: code }
  })

  app.patch<{ Params: { email: string } }>('/sandbox/customers/:email', async request => {
    const { tags } = z.object({ tags: z.array(z.string()) }).parse(request.body)
    const customer = customerFor(state, request.params.email, at())
    customer.tags = tags
    await store.save()
    return customer
  })

  app.post('/sandbox/products', async request => {
    const { variants, ...rest } = NewProduct.parse(request.body)
    const product: PlatformProduct = {
      ...rest,
      id: nextId(state),
      variants: variants.map(one => ({ ...one, id: nextId(state), title: one.options.join(' / ') })),
      createdAt: at(),
      updatedAt: at()
    }
    state.productChanges[product.id] = product
    await deliveries.emit('products/create', productPayload(product))
    return product
  })

  app.patch<ById>('/sandbox/products/:id', async (request, reply) => {
    const { variants = [], silent, ...change } = ProductChange.parse(request.body)
    const found = findProduct(request.params.id)
    if (!found) return reply.code(404).send({ error: 'no such product' })
    const prices = new Map(variants.flatMap(({ id, price }) => (price === undefined ? [] : [[id, price]])))
    const left = new Map(variants.flatMap(({ id, stock }) => (stock === undefined ? [] : [[id, stock]])))
    const changed = withFlags(withStock({ ...found, ...change }, left), variants)
    const product = withPrices(state, changed, prices, at())
    if (silent) await store.save()
    else await deliveries.emit('products/update', productPayload(product))
    return product
  })

  app.post('/sandbox/payment_capture', async request => {
    state.capturesLater = z.object({ later: z.boolean() }).parse(request.body).later
    await store.save()
    return { later: state.capturesLater }
  })

  app.post<ById>('/sandbox/orders/:id/capture', async (request, reply) => {
    const order = await checkouts.capture(request.params.id)
    return order ?? reply.code(404).send({ error: 'no such authorised order' })
  })

  app.post('/sandbox/online_store', async request => {
    const asked = z.object({ password: z.boolean().optional(), paused: z.boolean().optional() }).parse(request.body)
    Object.assign(state, asked)
    await store.save()
    return asked
  })

  app.post('/sandbox/products/import', async request => {
    const { times } = Import.parse(request.body ?? {})
    return { events: await emitImport({ state, deliveries, at: at() }, times) }
  })

  app.delete<ById>('/sandbox/products/:id', async (request, reply) => {
    const found = findProduct(request.params.id)
    if (!found) return reply.code(404).send({ error: 'no such product' })
    const { silent } = Deletion.parse(request.body)
    state.productChanges[found.id] = null
    if (silent) await store.save()
    else await deliveries.emit('products/delete', { id: Number(found.id) })
    return { deleted: found.id }
  })

  app.delete('/sandbox/webhooks/subscriptions', async () => {
    const dropped = state.subscriptions.splice(0)
    state.subscriptionsDropped = true
    await store.save()
    return { dropped }
  })

  app.post('/sandbox/webhooks/release', async request => ({
    released: await deliveries.release(Release.parse(request.body).order)
  }))

  app.post<ById>('/sandbox/webhooks/:id/redeliver', async (request, reply) => {
    const { times, wrong_signature } = Redeliver.parse(request.body)
    const statuses = await deliveries.redeliver(
      request.params.id,
      times,
      wrong_signature ? 'wrong_signature' : undefined
    )
    return statuses ? { statuses } : reply.code(404).send({ error: 'no such webhook' })
  })
}
