import { demoDiscountCodes, demoPlans, demoRules, demoRulesProduct } from './catalogue.ts'

export const PRODUCT_STATUSES = ['ACTIVE', 'UNLISTED', 'DRAFT', 'ARCHIVED'] as const

export const WEBHOOK_WRONGS = [
  'wrong_signature',
  'too_large',
  'unreadable',
  'other_shop',
  /** A shop still accepts it. */
  'other_version'
] as const
export type WebhookWrong = (typeof WEBHOOK_WRONGS)[number]

/** The platform's name for the shop. */
export const SHOP_DOMAIN = 'sandbox.myshopify.com'

/** A product on the platform. A variant's `options` have the order of the product's `optionNames`. */
export type PlatformProduct = {
  id: string
  title: string
  descriptionHtml: string
  status: (typeof PRODUCT_STATUSES)[number]
  /** Not in the Online Store, whose checkout the permalinks use. */
  unpublished?: boolean
  /** When the Online Store gets it, or got it. Missing: when it was made. */
  publishedAt?: string
  /** For sale with a selling plan only, which permalinks cannot have. */
  subscriptionOnly?: boolean
  tags: string[]
  collections: string[]
  optionNames: string[]
  variants: PlatformVariant[]
  createdAt: string
  updatedAt: string
}

export type PlatformVariant = {
  id: string
  title: string
  price: string
  options: string[]
  /** How many are left, if the platform counts them. */
  stock?: number
  /** The checkout needs an address. */
  shipped?: boolean
  /** Not in the Online Store, though its product is. */
  unpublished?: boolean
}

/** Missing fields mean: no limit, for everyone, no start, end or minimum, combines with other codes. */
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
  /** Ids of the customers who may use it; null for everyone. */
  customers?: string[] | null
  combines?: boolean
  /** How many things a cart needs at least. */
  minimum?: number | null
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
/** The part of a refund for one payment. A pending one keeps its transaction, and its result is another one. */
export type RefundPart = { id: string; parentId: string; amount: string; resultId?: string }
/** `key`: idempotency key of the request, with its `input` as JSON; null if the merchant made it on the platform. */
export type OrderRefund = {
  id: string
  amount: string
  key: string | null
  input?: string
  createdAt: string
  note?: string
  /** Missing: the money went back. */
  status?: RefundStatus
  /** Missing if the only payment gets all of it. */
  parts?: RefundPart[]
}
export const REFUND_STATUSES = ['success', 'pending', 'failure'] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]

export const DISPUTE_TYPES = ['chargeback', 'inquiry'] as const
export const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost', 'accepted', 'prevented'] as const
export type OrderDispute = {
  id: string
  /** What it was at first; it may have become a chargeback since. */
  initiatedAs: (typeof DISPUTE_TYPES)[number]
  type: (typeof DISPUTE_TYPES)[number]
  status: (typeof DISPUTE_STATUSES)[number]
  amount: string
  initiatedAt: string
  /** When it was decided; null while it is open. */
  finalizedOn: string | null
}

export type PlatformOrder = {
  id: string
  number: number
  checkoutToken: string
  email: string
  /** The platform's customer; missing in old orders. */
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
  /** Paid through a test gateway, so no money moves. */
  test: boolean
  /** The payment is not captured yet. */
  authorized?: true
  cancelledAt: string | null
  /** Missing if one payment covers all of it. */
  payments?: OrderPayment[]
  refunds: OrderRefund[]
  /** Missing in old orders. */
  disputes?: OrderDispute[]
  createdAt: string
  updatedAt: string
}

export type Subscription = { id: string; topic: string; uri: string }

export type Attempt = { at: string; status: number | null; error: string | null; ms: number }

/**
 * One event for one address. Redeliveries and duplicates share `webhookId`; all events of one action share `eventId`.
 * `id` is the row's own.
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
  /** Sent once, without retries. */
  wrong?: WebhookWrong | undefined
  /** Time of the next try in milliseconds since 1970; null if there is none. */
  nextAt: number | null
  attempts: Attempt[]
}

export type PlatformState = {
  version: 2
  lastNumber: number
  lastId: number
  /** Differences from the demo catalogue; null is a deleted product. */
  productChanges: Record<string, PlatformProduct | null>
  discountCodes: DiscountCode[]
  customers?: PlatformCustomer[]
  checkouts: Checkout[]
  orders: PlatformOrder[]
  subscriptions: Subscription[]
  /** The platform removed the subscriptions of a failing address, so the fallback address gets nothing either. */
  subscriptionsDropped?: boolean
  deliveries: Delivery[]
  /** The Online Store asks visitors for a password. */
  password?: boolean
  /** The shop is paused: its checkout takes no payment. */
  paused?: boolean
  /** Payments are only authorised at the checkout, and captured by hand. */
  capturesLater?: boolean
  /** The app's valid secrets, oldest first; missing means only the initial one. */
  appSecrets?: string[]
}

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

export const isForSale = (product: PlatformProduct): boolean =>
  (product.status === 'ACTIVE' || product.status === 'UNLISTED') &&
  !product.subscriptionOnly &&
  Date.parse(publishedAt(product) ?? '') <= Date.now()

/** When the Online Store got it, or will get it; null: never. */
export const publishedAt = ({ unpublished, publishedAt: at, createdAt }: PlatformProduct): string | null =>
  unpublished ? null : (at ?? createdAt)

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

/** The current catalogue in the order of the ids. */
export function productsOf(state: PlatformState): PlatformProduct[] {
  const changes = new Map(Object.entries(state.productChanges))
  const known = demoProducts.map(product => (changes.has(product.id) ? changes.get(product.id) : product))
  const added = [...changes.values()].filter(change => change && !demoProducts.some(demo => demo.id === change.id))
  return [...known, ...added]
    .filter(product => product !== null && product !== undefined)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
}

/** A new id, unique across everything that the platform creates. */
export const nextId = (state: PlatformState): string => String(++state.lastId)

const KEEP_CHECKOUTS = 2000
const KEEP_ORDERS = 5000
const KEEP_DELIVERIES = 1000

/** Drops the oldest rows, to keep the file small. Pending deliveries stay. */
export function trim(state: PlatformState): void {
  state.checkouts = state.checkouts.slice(-KEEP_CHECKOUTS)
  state.orders = state.orders.slice(-KEEP_ORDERS)
  const surplus = state.deliveries.length - KEEP_DELIVERIES
  if (surplus <= 0) return
  const ended = state.deliveries.filter(one => one.state !== 'pending' && one.state !== 'held').slice(0, surplus)
  const gone = new Set(ended.map(one => one.id))
  state.deliveries = state.deliveries.filter(one => !gone.has(one.id))
}

export const sameEmail = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

export const customersOf = (state: PlatformState): PlatformCustomer[] => (state.customers ??= [])

/** The customer with an address, created if needed, as the platform does at a first checkout. */
export function customerFor(state: PlatformState, email: string, at: string): PlatformCustomer {
  const known = customersOf(state).find(one => sameEmail(one.email, email))
  if (known) return known
  const made = { id: nextId(state), email: email.trim().toLowerCase(), tags: [], createdAt: at, updatedAt: at }
  customersOf(state).push(made)
  return made
}
