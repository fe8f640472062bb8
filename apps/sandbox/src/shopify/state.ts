import { demoDiscountCodes, demoPlans, demoRules, demoRulesProduct } from './catalogue.ts'

export const PRODUCT_STATUSES = ['ACTIVE', 'UNLISTED', 'DRAFT', 'ARCHIVED'] as const

/** What can be wrong with a webhook that is sent. */
export const WEBHOOK_WRONGS = [
  'wrong_signature',
  'too_large',
  'unreadable',
  'other_shop',
  /** Taken by a shop that reads it all the same. */
  'other_version'
] as const
export type WebhookWrong = (typeof WEBHOOK_WRONGS)[number]

/** What the platform calls the shop. */
export const SHOP_DOMAIN = 'sandbox.myshopify.com'

/** A product as the platform keeps it. `options` of a variant have the order of the product's `optionNames`. */
export type PlatformProduct = {
  id: string
  title: string
  descriptionHtml: string
  status: (typeof PRODUCT_STATUSES)[number]
  /** Not in the Online Store, whose checkout the permalinks lead to. */
  unpublished?: boolean
  tags: string[]
  collections: string[]
  optionNames: string[]
  variants: { id: string; title: string; price: string; options: string[] }[]
  createdAt: string
  updatedAt: string
}

/** What is left out is: no limit, for everybody, from the beginning and without an end, beside other codes. */
export type DiscountCode = {
  id?: string
  code: string
  type: 'percentage' | 'fixed_amount'
  value: string
  title?: string
  tags?: string[]
  startsAt?: string
  endsAt?: string | null
  usageLimit?: number | null
  oncePerCustomer?: boolean
  /** Ids of the customers whom it is for; null: everybody. */
  customers?: string[] | null
  combines?: boolean
}

export type PlatformCustomer = { id: string; email: string; tags: string[]; createdAt: string; updatedAt: string }

export type Checkout = {
  token: string
  lines: { variantId: string; quantity: number }[]
  email: string
  note: string
  attributes: Record<string, string>
  discountCodes: string[]
  createdAt: string
  orderId: string | null
}

export type OrderPayment = { id: string; gateway: string; amount: string }
/** What a refund gives back to one payment. */
export type RefundPart = { id: string; parentId: string; amount: string }
/** `key`: of the call that asked for it; null: made on the platform itself. */
export type OrderRefund = {
  id: string
  amount: string
  key: string | null
  createdAt: string
  note?: string
  /** Left out: all of it to the only payment. */
  parts?: RefundPart[]
}

export type PlatformOrder = {
  id: string
  number: number
  checkoutToken: string
  email: string
  /** The buyer as the platform keeps it; orders of before have none. */
  customerId?: string
  note: string
  tags: string[]
  attributes: Record<string, string>
  lines: {
    id: string
    productId: string
    variantId: string
    title: string
    variantTitle: string
    quantity: number
    price: string
  }[]
  discounts: { code: string; amount: string; type: DiscountCode['type'] }[]
  linesPrice: string
  totalDiscounts: string
  totalPrice: string
  /** ISO 4217. */
  currency: string
  /** Paid through a test gateway: no money moves. */
  test: boolean
  cancelledAt: string | null
  /** Left out: one payment of all of it. */
  payments?: OrderPayment[]
  refunds: OrderRefund[]
  createdAt: string
  updatedAt: string
}

export type Subscription = { id: string; topic: string; uri: string }

export type Attempt = { at: string; status: number | null; error: string | null; ms: number }

/**
 * One event on its way to one address. `webhookId` and `eventId` are what the receiver sees and stay the same over
 * redeliveries; `id` is this row's own, since a duplicate is a row of its own with the same two.
 */
export type Delivery = {
  id: string
  webhookId: string
  eventId: string
  topic: string
  uri: string
  body: string
  triggeredAt: string
  state: 'pending' | 'held' | 'delivered' | 'failed' | 'dropped'
  /** Sent once, and not again where it is refused. */
  wrong?: WebhookWrong | undefined
  /** Milliseconds since 1970 of the next try; null when there is none. */
  nextAt: number | null
  attempts: Attempt[]
}

export type PlatformState = {
  version: 2
  lastNumber: number
  lastId: number
  /** Only what differs from the demo catalogue: null is a deleted product. */
  productChanges: Record<string, PlatformProduct | null>
  discountCodes: DiscountCode[]
  customers?: PlatformCustomer[]
  checkouts: Checkout[]
  orders: PlatformOrder[]
  subscriptions: Subscription[]
  /** The platform gave up on an address that kept failing: without a subscription nobody is told any more. */
  subscriptionsDropped?: boolean
  deliveries: Delivery[]
  /** The app's secrets that were not revoked, the oldest first; left out: the one that it began with. */
  appSecrets?: string[]
}

/** A shop without a single sale. */
export function freshState(): PlatformState {
  return {
    version: 2,
    lastNumber: 1000,
    lastId: 730000000000,
    productChanges: {},
    discountCodes: demoDiscountCodes.map(code => ({ ...code })),
    checkouts: [],
    orders: [],
    subscriptions: [],
    deliveries: []
  }
}

/** Whether a checkout takes a product. */
export const isForSale = ({ status, unpublished = false }: PlatformProduct): boolean =>
  (status === 'ACTIVE' || status === 'UNLISTED') && !unpublished

/** Since when the Online Store has it. */
export const publishedAt = ({ unpublished, createdAt }: PlatformProduct): string | null =>
  unpublished ? null : createdAt

const LAUNCHED_AT = '2026-01-05T09:00:00Z'

const demoProducts: readonly PlatformProduct[] = [
  ...demoPlans.map(demo => ({
    id: demo.id,
    title: demo.title,
    descriptionHtml: demo.descriptionHtml,
    tags: [...demo.tags],
    collections: [...demo.collections],
    optionNames: [...demo.optionNames],
    variants: demo.variants.map(({ id, title, price, options }) => ({ id, title, price, options: [...options] }))
  })),
  {
    id: demoRulesProduct.id,
    title: demoRulesProduct.title,
    descriptionHtml: '<p>Opens one more site to the addresses of an order. Added at checkout, never sold alone.</p>',
    tags: [demoRulesProduct.tag],
    collections: [],
    optionNames: ['Rule'],
    variants: demoRules.map(rule => ({
      id: rule.variantId,
      title: rule.name,
      price: rule.price,
      options: [rule.name]
    }))
  }
].map(product => ({ ...product, status: 'ACTIVE', createdAt: LAUNCHED_AT, updatedAt: LAUNCHED_AT }))

/** The catalogue as it stands now, in the order of the ids. */
export function productsOf(state: PlatformState): PlatformProduct[] {
  const changes = new Map(Object.entries(state.productChanges))
  const known = demoProducts.map(product => (changes.has(product.id) ? changes.get(product.id) : product))
  const added = [...changes.values()].filter(change => change && !demoProducts.some(demo => demo.id === change.id))
  return [...known, ...added]
    .filter(product => product !== null && product !== undefined)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
}

/** A new id, unique over everything the platform makes. */
export const nextId = (state: PlatformState): string => String(++state.lastId)

const KEEP_CHECKOUTS = 2000
const KEEP_ORDERS = 5000
const KEEP_DELIVERIES = 1000

/** Drops the oldest rows, so that the file stays small after a long life. Deliveries still on their way stay. */
export function trim(state: PlatformState): void {
  state.checkouts = state.checkouts.slice(-KEEP_CHECKOUTS)
  state.orders = state.orders.slice(-KEEP_ORDERS)
  const surplus = state.deliveries.length - KEEP_DELIVERIES
  if (surplus <= 0) return
  const ended = state.deliveries.filter(one => one.state !== 'pending' && one.state !== 'held').slice(0, surplus)
  const gone = new Set(ended.map(one => one.id))
  state.deliveries = state.deliveries.filter(one => !gone.has(one.id))
}
