import { z } from 'zod'
import { type CheckoutInput, checkoutUrl, orderNotShown } from './checkout-url.ts'
import {
  type ListedCustomer,
  readCustomer,
  readCustomers,
  setPrices,
  type ShopifyCustomer,
  tagCustomer
} from './customers.ts'
import {
  createDiscount,
  endDiscount,
  type FoundDiscount,
  readDiscounts,
  updateDiscount,
  type WantedDiscount,
  type Written
} from './discounts.ts'
import { documents } from './documents.ts'
import {
  Collection,
  InCollection,
  Line,
  ListedDispute,
  Order,
  page,
  PricedVariant,
  Product,
  type ShopifyCollection,
  type ShopifyDispute,
  type ShopifyOrder,
  type ShopifyPricedVariant,
  type ShopifyProduct,
  type ShopifyShop,
  ShopInfo,
  StorePassword,
  toGid,
  UserErrors,
  Variant
} from './shapes.ts'
import { type ChangedOrders, type OpenPayments, readChangedOrders, readOpenPayments } from './changed-orders.ts'
import { readOnlineStore } from './online-store.ts'
import { readRefund, readRefundInput, type RefundInput, createRefund, type RefundRead } from './refund.ts'
import { done, failed, shopBase, type ShopifyResult } from './result.ts'
import { createTransport, type Execute, type ShopifyOptions } from './transport.ts'
import {
  inspectWebhooks,
  type Installation,
  registerWebhooks,
  type WebhookRegistration,
  type Webhooks
} from './webhook-registration.ts'
import { verifyWebhook } from './webhooks.ts'
import { Name } from '../foreign-texts.ts'

/** Far beyond any real shop. Ends a walk if the platform's cursor never does. */
const maxPages = 10_000

const VARIANTS_A_CALL = 250

type StoreVariables = { store: string; withStore: boolean }

/**
 * The platform's Admin API. Every function returns `{ok: true, value}` or a failure with a message for the operator.
 * None throws because of the platform or the network.
 * @param options `onlineStore`: the publication that variants have to be in, if the app may ask for it
 */
export function createShopify(options: ShopifyOptions & { apiSecret: string; onlineStore?: string | null }) {
  let apiVersion: string | null = null
  const execute = createTransport({ ...options, onVersion: version => void (apiVersion = version) })

  /** Variables of each query for variants: are they in the Online Store? */
  const inStore: StoreVariables = {
    store: options.onlineStore ?? toGid('Publication', '0'),
    withStore: typeof options.onlineStore === 'string'
  }

  /** Products page by page, complete with their variants, for callers that store as they read. Ends after a failure. */
  async function* productPages(): AsyncGenerator<ShopifyResult<ShopifyProduct[]>> {
    let after: string | null = null
    for (let count = 0; count < maxPages; count++) {
      const reply: ShopifyResult<{ products: { nodes: z.infer<typeof Product>[]; next: string | null } }> =
        await execute(documents.products, { after, ...inStore }, z.object({ products: page(Product) }))
      if (!reply.ok) return yield reply
      const products: ShopifyProduct[] = []
      for (const node of reply.value.products.nodes) {
        const whole = await wholeProduct(execute, node, inStore)
        if (!whole.ok) return yield whole
        products.push(whole.value)
      }
      yield done(products)
      after = reply.value.products.next
      if (after === null) return
    }
  }

  return {
    productPages,

    /** `checkoutUrl` for this shop; null if the shop's address is not set. */
    checkoutUrl: (input: Omit<CheckoutInput, 'shopUrl'>): string | null =>
      checkoutUrl({ ...input, shopUrl: options.shopUrl }),

    verifyWebhook: (rawBody: Uint8Array, hmacHeader: string | undefined): boolean =>
      verifyWebhook(rawBody, hmacHeader, options.apiSecret),

    /** How many products there are; null if the platform does not count exactly. */
    async productCount(): Promise<ShopifyResult<number | null>> {
      const reply = await execute(
        documents.productCount,
        {},
        z.object({ productsCount: z.object({ count: z.number(), precision: Name }).nullable() })
      )
      if (!reply.ok) return reply
      const counted = reply.value.productsCount
      return done(counted?.precision === 'EXACT' ? counted.count : null)
    },

    async products(): Promise<ShopifyResult<ShopifyProduct[]>> {
      const all: ShopifyProduct[] = []
      for await (const part of productPages()) {
        if (!part.ok) return part
        all.push(...part.value)
      }
      return done(all)
    },

    /** One product; 'not_found' if the platform has none with that id. */
    async product(id: string): Promise<ShopifyResult<ShopifyProduct>> {
      const reply = await execute(
        documents.product,
        { id: toGid('Product', id), ...inStore },
        z.object({ product: Product.nullable() })
      )
      if (!reply.ok) return reply
      if (!reply.value.product) return failed('not_found', `The e-commerce platform has no product ${id}.`)
      return wholeProduct(execute, reply.value.product, inStore)
    },

    /** Variants by id, 250 per call, without those that the platform does not have. */
    async variants(ids: readonly string[]): Promise<ShopifyResult<Map<string, ShopifyPricedVariant>>> {
      const found = new Map<string, ShopifyPricedVariant>()
      for (let at = 0; at < ids.length; at += VARIANTS_A_CALL) {
        const part = ids.slice(at, at + VARIANTS_A_CALL).map(id => toGid('ProductVariant', id))
        const reply = await execute(
          documents.variants,
          { ids: part, ...inStore },
          z.object({ nodes: z.array(PricedVariant.nullable()) })
        )
        if (!reply.ok) return reply
        for (const variant of reply.value.nodes) if (variant) found.set(variant.id, variant)
      }
      return done(found)
    },

    /** Writes prices of one product's variants. Idempotent. */
    setPrices: (productId: string, prices: ReadonlyMap<string, string>): Promise<ShopifyResult<null>> =>
      setPrices(execute, productId, prices),

    /** The shop's address, as an origin. */
    base: shopBase(options.shopUrl) ?? '',

    /** The API version of the last reply; null before the first, or if the reply named none. */
    apiVersion: (): string | null => apiVersion,

    /** The shop's name, currency and own domain, and the scopes of the access token. */
    shop: (): Promise<ShopifyResult<ShopifyShop>> => execute(documents.shop, {}, ShopInfo),

    /** Does the Online Store ask visitors for a password? Then no customer reaches its checkout. */
    hasPassword: (): Promise<ShopifyResult<boolean>> => execute(documents.storePassword, {}, StorePassword),

    /** The Online Store's publication; null if there is none. Needs `read_publications`. */
    onlineStore: (): Promise<ShopifyResult<string | null>> => readOnlineStore(execute),

    collections: (): Promise<ShopifyResult<ShopifyCollection[]>> =>
      everyPage(after =>
        execute(
          documents.collections,
          { after },
          z.object({ collections: page(Collection) }).transform(data => data.collections)
        )
      ),

    productTags: (): Promise<ShopifyResult<string[]>> =>
      everyPage(after =>
        execute(
          documents.productTags,
          { after },
          z
            .object({ productTags: page(Name).nullable() })
            .transform(data => data.productTags ?? { nodes: [], next: null })
        )
      ),

    async order(id: string): Promise<ShopifyResult<ShopifyOrder>> {
      const reply = await execute(documents.order, { id: toGid('Order', id) }, z.object({ order: Order.nullable() }))
      if (!reply.ok) return reply
      if (!reply.value.order) return orderNotShown(execute, id, `The e-commerce platform has no order ${id}.`)
      return withAllLines(execute, reply.value.order)
    },

    changedOrders: (since: Date, most?: number): Promise<ShopifyResult<ChangedOrders>> =>
      readChangedOrders(execute, withAllLines, since, most),

    /** Disputes that began since a time. The token needs a scope for them; those of one order it reads without. */
    disputes: (since: Date): Promise<ShopifyResult<ShopifyDispute[]>> =>
      everyPage(after =>
        execute(
          documents.disputes,
          { query: `initiated_at:>='${since.toISOString()}'`, after },
          z.object({ disputes: page(ListedDispute) }).transform(data => data.disputes)
        )
      ),

    /**
     * What `refund` takes, from the order's payments. Refunds nothing.
     * @param amount in the shop's currency: '12.30'
     */
    refundInput: (orderId: string, refund: { amount: string; note: string }): Promise<ShopifyResult<RefundInput>> =>
      readRefundInput(execute, orderId, refund),

    /**
     * Refunds money of an order.
     * @param key idempotency key; a repeat needs the same input
     */
    refund: (input: RefundInput, key: string): Promise<ShopifyResult<string | null>> =>
      createRefund(execute, input, key),

    /** Payments of an order that have no result yet. */
    openPayments: (orderId: string): Promise<ShopifyResult<OpenPayments>> => readOpenPayments(execute, orderId),

    /** The state of a refund that `refund` started, by its id. */
    readRefund: (refundId: string): Promise<ShopifyResult<RefundRead>> => readRefund(execute, refundId),

    /** Adds tags, removes those in `without`, and with `note` replaces the order's note. Idempotent. */
    async tagOrder(
      orderId: string,
      tags: readonly string[],
      { without = [], note }: { without?: readonly string[]; note?: string | undefined } = {}
    ): Promise<ShopifyResult<null>> {
      const reply = await execute(
        documents.tagOrder,
        {
          id: toGid('Order', orderId),
          tags,
          without,
          withRemoval: without.length > 0,
          note: note ?? null,
          withNote: note !== undefined
        },
        z.object({
          tagsRemove: z.object({ userErrors: UserErrors }).nullish(),
          tagsAdd: z.object({ userErrors: UserErrors }).nullable(),
          orderUpdate: z.object({ userErrors: UserErrors }).nullish()
        })
      )
      if (!reply.ok) return reply
      const { tagsRemove, tagsAdd, orderUpdate } = reply.value
      const errors = [tagsRemove, tagsAdd, orderUpdate].flatMap(done => done?.userErrors ?? [])
      if (errors.length === 0) return done(null)
      const reason = errors.some(error => /does not exist|not found/i.test(error.message)) ? 'not_found' : 'rejected'
      return failed(
        reason,
        `Order ${orderId} could not be tagged on the e-commerce platform: ${errors.map(error => error.message).join('; ')}`
      )
    },

    discounts: (
      wanted: readonly Pick<WantedDiscount, 'code' | 'holder'>[]
    ): Promise<ShopifyResult<Map<string, FoundDiscount | null>>> => readDiscounts(execute, wanted),
    createDiscount: (wanted: WantedDiscount, at: Date): Promise<ShopifyResult<Written>> =>
      createDiscount(execute, wanted, at),
    updateDiscount: (found: FoundDiscount, wanted: WantedDiscount, at: Date): Promise<ShopifyResult<Written>> =>
      updateDiscount(execute, found, wanted, at),
    endDiscount: (found: FoundDiscount): Promise<ShopifyResult<Written>> => endDiscount(execute, found),

    customer: (email: string): Promise<ShopifyResult<ShopifyCustomer | null>> => readCustomer(execute, email),
    customers: (after: string | null): Promise<ShopifyResult<{ nodes: ListedCustomer[]; next: string | null }>> =>
      readCustomers(execute, after),
    tagCustomer: (
      id: string,
      tags: { add: readonly string[]; remove: readonly string[] }
    ): Promise<ShopifyResult<null>> => tagCustomer(execute, id, tags),

    /** The platform's webhook subscriptions, seen from this installation. */
    inspectWebhooks: (installation: Installation): Promise<ShopifyResult<Webhooks>> =>
      inspectWebhooks(execute, installation),

    /**
     * Subscribes this installation to payments and product changes. Idempotent: existing subscriptions are kept, and
     * those to its earlier addresses are moved. Other installations keep theirs unless `takeOver` is set.
     */
    registerWebhooks: (
      installation: Installation,
      options?: { takeOver?: boolean }
    ): Promise<ShopifyResult<WebhookRegistration>> => registerWebhooks(execute, installation, options)
  }
}

export type Shopify = ReturnType<typeof createShopify>

type ReadPage<T> = (after: string | null) => Promise<ShopifyResult<{ nodes: T[]; next: string | null }>>

async function everyPage<T>(read: ReadPage<T>): Promise<ShopifyResult<T[]>> {
  const first = await read(null)
  if (!first.ok) return first
  const others = await otherPages(read, first.value.next)
  return others.ok ? done([...first.value.nodes, ...others.value]) : others
}

/** The pages after a page. @param next null if it was the last */
async function otherPages<T>(read: ReadPage<T>, next: string | null): Promise<ShopifyResult<T[]>> {
  const all: T[] = []
  for (let after = next, count = 1; after !== null && count < maxPages; count++) {
    const part = await read(after)
    if (!part.ok) return part
    all.push(...part.value.nodes)
    after = part.value.next
  }
  return done(all)
}

async function withAllLines(execute: Execute, order: z.infer<typeof Order>): Promise<ShopifyResult<ShopifyOrder>> {
  const { moreLines, ...whole } = order
  const shape = z
    .object({ order: z.object({ lineItems: page(Line) }).nullable() })
    .transform(data => data.order?.lineItems ?? { nodes: [], next: null })
  for (let after = moreLines, count = 0; after !== null && count < maxPages; count++) {
    const part = await execute(documents.orderLines, { id: toGid('Order', whole.id), after }, shape)
    if (!part.ok) return part
    whole.lines.push(...part.value.nodes)
    after = part.value.next
  }
  return done(whole)
}

/** Adds the variants and collections beyond the first page. */
async function wholeProduct(
  execute: Execute,
  product: z.infer<typeof Product>,
  inStore: StoreVariables
): Promise<ShopifyResult<ShopifyProduct>> {
  const { moreVariants, moreCollections, ...whole } = product
  const id = toGid('Product', whole.id)
  const last = { nodes: [], next: null }
  const variants = z
    .object({ product: z.object({ variants: page(Variant) }).nullable() })
    .transform(data => data.product?.variants ?? last)
  const collections = z
    .object({ product: z.object({ collections: page(InCollection) }).nullable() })
    .transform(data => data.product?.collections ?? last)
  const otherVariants = await otherPages(
    after => execute(documents.productVariants, { id, after, ...inStore }, variants),
    moreVariants
  )
  if (!otherVariants.ok) return otherVariants
  const otherCollections = await otherPages(
    after => execute(documents.productCollections, { id, after }, collections),
    moreCollections
  )
  if (!otherCollections.ok) return otherCollections
  return done({
    ...whole,
    variants: [...whole.variants, ...otherVariants.value],
    collections: [...whole.collections, ...otherCollections.value]
  })
}
