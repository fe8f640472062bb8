import { GraphQLError, type GraphQLResolveInfo, getDirectiveValues } from 'graphql'
import type { Store } from '../kit/store.ts'
import { READ_DISPUTES, READ_PUBLICATIONS, type AppAccess } from './app-access.ts'
import { type PageArgs, type UserError, connection, gid, idOf, presentOrders } from './present-orders.ts'
import { demoCollections, type DemoCollection } from './catalogue.ts'
import type { Refunds } from './refunds.ts'
import { optionValues, productPayload } from './product-payload.ts'
import { promotionResolvers } from './promotion-resolvers.ts'
import {
  isForSale,
  nextId,
  productsOf,
  publishedAt,
  SHOP_DOMAIN,
  type PlatformOrder,
  type PlatformProduct,
  type PlatformState
} from './state.ts'
import { withPrices } from './pricing.ts'

/** Reads arguments and directives beyond what the library does. */

/** The key of the field's @idempotent directive; null if it has none. */
function idempotencyKey({ fieldNodes, schema, variableValues }: GraphQLResolveInfo): string | null {
  const [directive, node] = [schema.getDirective('idempotent'), fieldNodes[0]]
  const key = directive && node && getDirectiveValues(directive, node, variableValues)?.['key']
  return typeof key === 'string' && key.trim() !== '' ? key : null
}

/**
 * Reads the only search that the shop uses: since an instant. Ignoring an unknown term would hide a mistake in the query.
 */
function sinceOf(query: string, field: 'updated_at' | 'initiated_at'): number {
  let since = 0
  for (const term of query.split(' ').filter(part => part !== '')) {
    const [, name, time = ''] = /^(\w+):>='([^']+)'$/.exec(term) ?? []
    const instant = name === field ? Date.parse(time) : Number.NaN
    if (Number.isNaN(instant)) throw new GraphQLError(`The stand-in does not know the search term ${term}`)
    since = instant
  }
  return since
}

const ONLINE_STORE = gid('Publication', '1')

type AskedTransaction = { parentId?: string | null; amount: string }

/** The root of the schema. `base` is the address of the stand-in's files. */
export function createResolvers(
  store: Store<PlatformState>,
  {
    base,
    access,
    now,
    giveBack,
    emit
  }: {
    base: () => string
    access: Pick<AppAccess, 'scopes' | 'shows'>
    now: () => Date
    giveBack: Refunds
    emit: (topic: string, payload: unknown) => Promise<void>
  }
) {
  const { data: state } = store
  const { changeCustomerTags, ...promotions } = promotionResolvers(store, { now })

  const collection = (one: DemoCollection) => ({
    id: gid('Collection', one.id),
    title: one.title,
    descriptionHtml: one.descriptionHtml,
    description: one.descriptionHtml.replace(/<[^>]+>/g, ' ').trim(),
    image: { url: `${base()}/files/${one.image}.svg`, altText: one.title }
  })

  const mayReadPublications = () => {
    if (!access.scopes().includes(READ_PUBLICATIONS))
      throw new GraphQLError('Access denied. Required access: `read_publications` access scope.', {
        extensions: { code: 'ACCESS_DENIED' }
      })
  }

  const variantOf = (one: PlatformProduct) => (variant: PlatformProduct['variants'][number]) => ({
    __typename: 'ProductVariant',
    id: gid('ProductVariant', variant.id),
    title: variant.title,
    price: variant.price,
    availableForSale: variant.stock !== 0,
    publishedOnPublication: ({ publicationId }: { publicationId: string }) => {
      mayReadPublications()
      return publicationId === ONLINE_STORE && !variant.unpublished && isForSale(one)
    },
    inventoryPolicy: 'DENY',
    sellableOnlineQuantity: variant.stock ?? 0,
    inventoryItem: {
      id: gid('InventoryItem', variant.id),
      tracked: variant.stock !== undefined,
      requiresShipping: variant.shipped ?? false
    },
    position: one.variants.indexOf(variant) + 1,
    product: () => product(one),
    selectedOptions: one.optionNames.map((name, index) => ({ name, value: variant.options[index] ?? '' }))
  })

  const product = (one: PlatformProduct) => ({
    id: gid('Product', one.id),
    title: one.title,
    descriptionHtml: one.descriptionHtml,
    status: one.status,
    tags: one.tags,
    createdAt: one.createdAt,
    updatedAt: one.updatedAt,
    publishedAt: publishedAt(one),
    requiresSellingPlan: one.subscriptionOnly ?? false,
    options: one.optionNames.map((name, index) => ({
      id: gid('ProductOption', `${one.id}${index}`),
      name,
      position: index + 1,
      values: optionValues(one, index)
    })),
    collections: (args: PageArgs) =>
      connection(
        demoCollections.filter(({ id }) => one.collections.includes(id)),
        args,
        collection
      ),
    variants: (args: PageArgs) => connection(one.variants, args, variantOf(one))
  })

  const { order, refund, dispute } = presentOrders(state)
  const findOrder = (id: string) => state.orders.find(one => one.id === idOf(id, 'Order') && access.shows(one))

  /** Changes and saves an order, or returns the platform's error if there is none. */
  async function changeOrder(id: string, field: string[], change: (found: PlatformOrder) => void) {
    const found = findOrder(id)
    if (!found) return { changed: null, userErrors: [{ field, message: 'Order does not exist' }] as UserError[] }
    change(found)
    found.updatedAt = now().toISOString()
    await store.save()
    return { changed: order(found), userErrors: [] as UserError[] }
  }

  const subscription = (one: PlatformState['subscriptions'][number]) => ({
    id: gid('WebhookSubscription', one.id),
    topic: one.topic,
    uri: one.uri,
    format: 'JSON'
  })
  const uriErrors = (uri: string | undefined, topic: string): UserError[] => {
    const field = ['webhookSubscription', 'uri']
    if (!uri || !URL.canParse(uri)) return [{ field, message: 'Address is invalid' }]
    if (state.subscriptions.some(one => one.topic === topic && one.uri === uri))
      return [{ field, message: 'Address for this topic has already been taken' }]
    return []
  }

  return {
    ...promotions,
    nodes({ ids }: { ids: string[] }) {
      const all = productsOf(state)
      return ids.map(id => {
        const variantId = idOf(id, 'ProductVariant')
        const owner = all.find(one => one.variants.some(variant => variant.id === variantId))
        const variant = owner?.variants.find(one => one.id === variantId)
        return owner && variant ? variantOf(owner)(variant) : null
      })
    },
    shop: () => ({
      id: gid('Shop', '1'),
      name: 'Netlet stand-in',
      currencyCode: 'USD',
      myshopifyDomain: SHOP_DOMAIN,
      plan: { publicDisplayName: state.paused ? 'Paused' : 'Basic' }
    }),
    publications: (args: PageArgs) => {
      mayReadPublications()
      const apps = [
        { id: gid('Publication', '9'), handle: 'pos' },
        { id: ONLINE_STORE, handle: 'online_store' }
      ]
      return connection(apps, args, ({ id, handle }) => ({
        id,
        catalog: {
          __typename: 'AppCatalog',
          apps: (page: PageArgs) => connection([{ handle }], page, app => ({ id: gid('App', '1'), ...app }))
        }
      }))
    },
    onlineStore: () => ({ passwordProtection: { enabled: state.password === true } }),
    currentAppInstallation: () => ({
      id: gid('AppInstallation', '1'),
      accessScopes: access.scopes().map(handle => ({ handle }))
    }),
    products: (args: PageArgs) => connection(productsOf(state), args, product),
    productsCount({ limit }: { limit: number | null }) {
      const count = productsOf(state).length
      const isMore = limit !== null && count > limit
      return { count: isMore ? limit : count, precision: isMore ? 'AT_LEAST' : 'EXACT' }
    },
    product({ id }: { id: string }) {
      const found = productsOf(state).find(one => one.id === idOf(id, 'Product'))
      return found ? product(found) : null
    },
    collections: (args: PageArgs) => connection(demoCollections, args, collection),
    productTags: (args: PageArgs) =>
      connection([...new Set(productsOf(state).flatMap(one => one.tags))].toSorted(), args, tag => tag),
    order({ id }: { id: string }) {
      const found = findOrder(id)
      return found ? order(found) : null
    },
    refund({ id }: { id: string }) {
      for (const one of state.orders.filter(access.shows)) {
        const found = one.refunds.find(made => made.id === idOf(id, 'Refund'))
        if (found) return refund(one, found)
      }
      return null
    },
    orders(args: PageArgs & { query?: string | null }) {
      const since = sinceOf(args.query ?? '', 'updated_at')
      const found = state.orders.filter(one => Date.parse(one.updatedAt) >= since && access.shows(one))
      found.sort((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt))
      return connection(found, args, order)
    },
    disputes(args: PageArgs & { query?: string | null; reverse?: boolean }) {
      if (!access.scopes().includes(READ_DISPUTES))
        throw new GraphQLError('Access denied for disputes field.', { extensions: { code: 'ACCESS_DENIED' } })
      const since = sinceOf(args.query ?? '', 'initiated_at')
      const found = state.orders.flatMap(one => (one.disputes ?? []).map(row => ({ one, row })))
      const listed = found.filter(({ row }) => Date.parse(row.initiatedAt) >= since)
      return connection(args.reverse ? listed.toReversed() : listed, args, ({ one, row }) => dispute(one, row))
    },
    webhookSubscriptions: (args: PageArgs & { topics?: string[] | null }) =>
      connection(
        state.subscriptions.filter(one => !args.topics || args.topics.includes(one.topic)),
        args,
        subscription
      ),

    async tagsAdd({ id, tags }: { id: string; tags: string[] }) {
      const ofCustomer = await changeCustomerTags(id, had => [...new Set([...had, ...tags])])
      if (ofCustomer) return ofCustomer
      const { changed, userErrors } = await changeOrder(id, ['id'], found => {
        found.tags = [...new Set([...found.tags, ...tags])]
      })
      return { node: changed, userErrors }
    },
    async tagsRemove({ id, tags }: { id: string; tags: string[] }) {
      const ofCustomer = await changeCustomerTags(id, had => had.filter(tag => !tags.includes(tag)))
      if (ofCustomer) return ofCustomer
      const { changed, userErrors } = await changeOrder(id, ['id'], found => {
        found.tags = found.tags.filter(tag => !tags.includes(tag))
      })
      return { node: changed, userErrors }
    },
    async orderUpdate({ input }: { input: { id: string; note?: string | null } }) {
      const { changed, userErrors } = await changeOrder(input.id, ['id'], found => {
        if (input.note !== undefined) found.note = input.note ?? ''
      })
      return { order: changed, userErrors }
    },
    async productVariantsBulkUpdate(args: { productId: string; variants: { id?: string; price?: string }[] }) {
      const found = productsOf(state).find(one => one.id === idOf(args.productId, 'Product'))
      if (!found) return { userErrors: [{ field: ['productId'], message: 'Product does not exist' }] as UserError[] }
      const prices = args.variants.map(({ id = '', price = '' }) => [idOf(id, 'ProductVariant') ?? '', price] as const)
      const unknown = prices.findIndex(([id]) => !found.variants.some(variant => variant.id === id))
      if (unknown >= 0)
        return {
          userErrors: [{ field: ['variants', String(unknown), 'id'], message: 'Product variant does not exist' }]
        }
      const changed = withPrices(state, found, new Map(prices), now().toISOString())
      await emit('products/update', productPayload(changed))
      return { userErrors: [] }
    },
    async webhookSubscriptionDelete({ id }: { id: string }) {
      const at = state.subscriptions.findIndex(one => one.id === idOf(id, 'WebhookSubscription'))
      if (at < 0)
        return {
          deletedWebhookSubscriptionId: null,
          userErrors: [{ field: ['id'], message: 'Webhook subscription does not exist' }]
        }
      state.subscriptions.splice(at, 1)
      await store.save()
      return { deletedWebhookSubscriptionId: id, userErrors: [] }
    },
    async refundCreate(
      { input }: { input: { orderId: string; note?: string | null; transactions?: AskedTransaction[] | null } },
      _context: unknown,
      info: GraphQLResolveInfo
    ) {
      const key = idempotencyKey(info)
      // Required since the platform's version 2026-04.
      if (key === null) throw new GraphQLError('The @idempotent directive is required for this mutation')
      const found = findOrder(input.orderId)
      if (!found) return { refund: null, userErrors: [{ field: ['orderId'], message: 'Order does not exist' }] }
      const asked = (input.transactions ?? []).map(({ parentId, amount }) => ({
        parentId: idOf(parentId ?? '', 'OrderTransaction') ?? '',
        amount
      }))
      const made = await giveBack.refundParts(found, asked, {
        key,
        input: JSON.stringify(input),
        note: input.note ?? ''
      })
      return made.ok
        ? { order: order(found), refund: refund(found, made.refund), userErrors: [] }
        : { order: order(found), refund: null, userErrors: [{ field: ['transactions'], message: made.message }] }
    },
    async webhookSubscriptionCreate(args: { topic: string; webhookSubscription: { uri?: string } }) {
      const { uri } = args.webhookSubscription
      const userErrors = uriErrors(uri, args.topic)
      if (!uri || userErrors.length > 0) return { webhookSubscription: null, userErrors }
      const made = { id: nextId(state), topic: args.topic, uri }
      state.subscriptions.push(made)
      await store.save()
      return { webhookSubscription: subscription(made), userErrors: [] }
    },
    async webhookSubscriptionUpdate(args: { id: string; webhookSubscription: { uri?: string } }) {
      const found = state.subscriptions.find(one => one.id === idOf(args.id, 'WebhookSubscription'))
      if (!found)
        return {
          webhookSubscription: null,
          userErrors: [{ field: ['id'], message: 'Webhook subscription does not exist' }]
        }
      const { uri } = args.webhookSubscription
      const userErrors = uri === found.uri ? [] : uriErrors(uri, found.topic)
      if (!uri || userErrors.length > 0) return { webhookSubscription: null, userErrors }
      found.uri = uri
      await store.save()
      return { webhookSubscription: subscription(found), userErrors: [] }
    }
  }
}
