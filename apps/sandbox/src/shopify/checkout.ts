import { randomBytes } from 'node:crypto'
import type { Store } from '../kit/store.ts'
import {
  type Checkout,
  customerFor,
  nextId,
  type PlatformOrder,
  type PlatformProduct,
  type PlatformState,
  productsOf,
  trim
} from './state.ts'
import { paidBy } from './order-money.ts'
import { orderPayload } from './payloads.ts'
import type { Deliveries } from './deliveries.ts'
import { priceCheckout, withPrices, withStock } from './pricing.ts'
import { productPayload } from './product-payload.ts'

export type PayOutcome =
  | { ok: true; order: PlatformOrder; paidBefore: boolean }
  | { ok: false; reason: 'no_checkout' | 'not_for_sale' }

/** Replaces values of the checkout: total and gift card (decimal strings), currency, cart, or the test mode. */
export type PayInstead = {
  amount?: string | undefined
  currency?: string | undefined
  test?: boolean | undefined
  lines?: Checkout['lines'] | undefined
  giftCard?: string | undefined
  /** The rest was paid by a bank deposit. */
  bankDeposit?: boolean | undefined
  /** By a wallet whose checkout drops the attributes of the cart. */
  losesAttributes?: boolean | undefined
}

/** Reads a cart permalink (`123:2,456:2` and its query) into a checkout; null if it is invalid. */
export function readPermalink(cart: string, query: URLSearchParams): Omit<Checkout, 'token' | 'createdAt'> | null {
  const lines = cart.split(',').map(part => /^(\d{1,18}):([1-9]\d{0,6})$/.exec(part))
  if (lines.includes(null)) return null
  const attributes: Record<string, string> = {}
  for (const [key, value] of query) {
    const name = /^attributes\[([\w-]{1,64})\]$/.exec(key)?.[1]
    if (name) attributes[name] = value
  }
  return {
    lines: lines.map(line => ({ variantId: line?.[1] ?? '', quantity: Number(line?.[2]) })),
    email: query.get('checkout[email]') ?? '',
    note: query.get('note') ?? '',
    attributes,
    discountCodes: (query.get('discount') ?? '')
      .split(',')
      .map(code => code.trim())
      .filter(code => code !== ''),
    orderId: null
  }
}

/** The platform's limit of codes for one checkout. */
const MAX_CODES = 5

export function createCheckouts(options: {
  store: Store<PlatformState>
  deliveries: Pick<Deliveries, 'emit'>
  base: () => string
  now: () => number
}) {
  const { store, deliveries, base, now } = options
  const { data: state } = store
  const find = (token: string) => state.checkouts.find(one => one.token === token)
  const orderOf = (checkout: Checkout) => state.orders.find(one => one.id === checkout.orderId)

  return {
    find,
    orderOf,

    async open(cart: Omit<Checkout, 'token' | 'createdAt'>): Promise<Checkout> {
      const checkout = { ...cart, token: randomBytes(12).toString('hex'), createdAt: new Date(now()).toISOString() }
      state.checkouts.push(checkout)
      trim(state)
      await store.save()
      return checkout
    },

    async addCode(checkout: Checkout, code: string): Promise<void> {
      if (checkout.discountCodes.length >= MAX_CODES) return
      checkout.discountCodes = [...new Set([...checkout.discountCodes, code])]
      await store.save()
    },

    /** Captures an authorised payment. */
    async capture(id: string): Promise<PlatformOrder | undefined> {
      const order = state.orders.find(one => one.id === id && one.authorized)
      if (!order) return undefined
      delete order.authorized
      order.updatedAt = new Date(now()).toISOString()
      await deliveries.emit('orders/paid', orderPayload(order, base()))
      return order
    },

    /** Pays a checkout once. A second call returns the same order and sends nothing. */
    async pay(token: string, email: string, instead: PayInstead = {}): Promise<PayOutcome> {
      const checkout = find(token)
      if (!checkout) return { ok: false, reason: 'no_checkout' }
      const paid = orderOf(checkout)
      if (paid) return { ok: true, order: paid, paidBefore: true }
      const buyer = email || checkout.email || 'buyer@example.test'
      const priced = priceCheckout(state, { ...checkout, email: buyer, lines: instead.lines ?? checkout.lines }, now())
      if (!priced) return { ok: false, reason: 'not_for_sale' }
      const at = new Date(now()).toISOString()
      const { amount, currency = 'USD', test = true } = instead
      const payments = paidBy(amount ?? priced.totalPrice, instead, () => nextId(state))
      const order: PlatformOrder = {
        id: nextId(state),
        number: ++state.lastNumber,
        checkoutToken: token,
        email: buyer,
        customerId: customerFor(state, buyer, at).id,
        note: checkout.note,
        tags: [],
        // Some wallets drop the attributes.
        attributes: instead.losesAttributes ? {} : checkout.attributes,
        lines: priced.lines.map(line => ({ id: nextId(state), ...line })),
        linesPrice: priced.linesPrice,
        discounts: amount === undefined ? priced.discounts : [],
        totalDiscounts: amount === undefined ? priced.totalDiscounts : '0.00',
        totalPrice: amount ?? priced.totalPrice,
        currency,
        test,
        ...(state.capturesLater ? { authorized: true } : {}),
        cancelledAt: null,
        ...(payments ? { payments } : {}),
        refunds: [],
        createdAt: at,
        updatedAt: at
      }
      // There is no await since the lookup above, so two clicks at once cannot both pay.
      checkout.orderId = order.id
      state.orders.push(order)
      for (const product of lowered(state, order, at)) await deliveries.emit('products/update', productPayload(product))
      // The platform sends `orders/create` of paid orders too, which says no more than `orders/paid`.
      await deliveries.emit(order.authorized ? 'orders/create' : 'orders/paid', orderPayload(order, base()))
      return { ok: true, order, paidBefore: false }
    }
  }
}

/** Lowers what is left of the variants that the platform counts. @returns the changed products */
function lowered(state: PlatformState, { lines }: PlatformOrder, at: string): PlatformProduct[] {
  const sold = new Map(lines.map(({ variantId, quantity }) => [variantId, quantity]))
  return productsOf(state).flatMap(product => {
    const counted = product.variants.flatMap(({ id, stock }) =>
      stock !== undefined && sold.has(id) ? [[id, Math.max(0, stock - (sold.get(id) ?? 0))] as const] : []
    )
    return counted.length > 0 ? [withPrices(state, withStock(product, new Map(counted)), new Map(), at)] : []
  })
}

export type Checkouts = ReturnType<typeof createCheckouts>
