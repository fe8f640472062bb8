import { toCents, toMoney } from '../kit/http.ts'
import {
  type Checkout,
  type DiscountCode,
  isForSale,
  type PlatformOrder,
  type PlatformProduct,
  type PlatformState,
  productsOf,
  sameEmail
} from './state.ts'
import type { Deliveries } from './deliveries.ts'
import { productPayload } from './product-payload.ts'

/** Changes prices of a product's variants by their ids; others stay. */
export function withPrices(
  state: PlatformState,
  found: PlatformProduct,
  prices: ReadonlyMap<string, string>,
  updatedAt: string
): PlatformProduct {
  const product = {
    ...found,
    variants: found.variants.map(one => ({ ...one, price: prices.get(one.id) ?? one.price })),
    updatedAt
  }
  state.productChanges[product.id] = product
  return product
}

/** Sets how many are left of a product's variants by their ids; null: not counted. */
export const withStock = (found: PlatformProduct, left: ReadonlyMap<string, number | null>): PlatformProduct => ({
  ...found,
  variants: found.variants.map(({ stock, ...one }) => {
    const now = left.has(one.id) ? (left.get(one.id) ?? undefined) : stock
    return now === undefined ? one : { ...one, stock: now }
  })
})

/** Sets which of a product's variants are shipped, or not in the Online Store, by their ids. */
export const withFlags = (
  found: PlatformProduct,
  changes: readonly { id: string; shipped?: boolean | undefined; unpublished?: boolean | undefined }[]
): PlatformProduct => ({
  ...found,
  variants: found.variants.map(one => {
    const { shipped = one.shipped ?? false, unpublished = one.unpublished ?? false } =
      changes.find(({ id }) => id === one.id) ?? {}
    return { ...one, shipped, unpublished }
  })
})

/** Sends each product repeatedly, as the platform does during an import. @returns the number of events */
export async function emitImport(
  { state, deliveries, at }: { state: PlatformState; deliveries: Deliveries; at: string },
  times: number
): Promise<number> {
  for (const product of productsOf(state)) withPrices(state, product, new Map(), at)
  const events = Array.from({ length: times }, () => productsOf(state).map(productPayload)).flat()
  await deliveries.emit('products/update', ...events)
  return events.length
}

export type PricedCheckout = {
  lines: Omit<PlatformOrder['lines'][number], 'id'>[]
  linesPrice: string
  discounts: PlatformOrder['discounts']
  unknownCodes: string[]
  /** Codes that exist, but that this buyer cannot use now. */
  refusedCodes: { code: string; why: WhyNot | 'alone' }[]
  totalDiscounts: string
  totalPrice: string
}

/**
 * Prices a cart by the current catalogue, with one code after the other; null if a variant is not for sale. As on the
 * platform, the cart gets what is left of a variant that is counted, and is refused if none is left.
 */
export function priceCheckout(
  state: PlatformState,
  checkout: Pick<Checkout, 'lines' | 'discountCodes'> & { email?: string },
  now = Date.now()
): PricedCheckout | null {
  const products = productsOf(state).filter(isForSale)
  const lines: PricedCheckout['lines'] = []
  for (const { variantId, quantity: wanted } of checkout.lines) {
    const product = products.find(one => one.variants.some(variant => variant.id === variantId))
    const variant = product?.variants.find(one => one.id === variantId)
    if (!product || !variant || variant.stock === 0 || variant.unpublished) return null
    const { price, title: variantTitle, stock = wanted } = variant
    const quantity = Math.min(wanted, stock)
    lines.push({ productId: product.id, variantId, title: product.title, variantTitle, quantity, price })
  }
  const linesCents = lines.reduce((sum, line) => sum + toCents(line.price) * line.quantity, 0)
  const quantity = lines.reduce((sum, line) => sum + line.quantity, 0)
  let left = linesCents
  const discounts: PricedCheckout['discounts'] = []
  const unknownCodes: string[] = []
  const refusedCodes: PricedCheckout['refusedCodes'] = []
  let alone = false
  for (const wanted of new Set(checkout.discountCodes.map(code => code.toLowerCase()))) {
    const known = findDiscount(state, wanted)
    if (!known) {
      unknownCodes.push(checkout.discountCodes.find(code => code.toLowerCase() === wanted) ?? wanted)
      continue
    }
    const isAlone = known.combines === false
    const why = whyNotFor(state, known, { email: checkout.email ?? '', now, quantity })
    if (why || ((alone || isAlone) && discounts.length > 0)) {
      refusedCodes.push({ code: known.code, why: why ?? 'alone' })
      continue
    }
    alone = isAlone
    // toCents reads a percentage with two decimals exactly, so only the division rounds.
    const value = toCents(known.value)
    const off = Math.min(left, known.type === 'percentage' ? Math.round((left * value) / 10_000) : value)
    left -= off
    discounts.push({ code: known.code, amount: toMoney(off), type: known.type })
  }
  return {
    lines,
    linesPrice: toMoney(linesCents),
    discounts,
    unknownCodes,
    refusedCodes,
    totalDiscounts: toMoney(linesCents - left),
    totalPrice: toMoney(left)
  }
}

export const findDiscount = (state: PlatformState, code: string): DiscountCode | undefined =>
  state.discountCodes.find(one => one.code.toLowerCase() === code.toLowerCase())

/** Orders that used a code, including refunded ones, as on the platform. */
export const usesOf = (state: PlatformState, { code }: DiscountCode) =>
  state.orders.filter(order => order.discounts.some(one => one.code.toLowerCase() === code.toLowerCase()))

export function statusOf({ startsAt, endsAt }: DiscountCode, now: number): 'ACTIVE' | 'EXPIRED' | 'SCHEDULED' {
  if (startsAt && Date.parse(startsAt) > now) return 'SCHEDULED'
  return endsAt && Date.parse(endsAt) <= now ? 'EXPIRED' : 'ACTIVE'
}

export type WhyNot = 'ended' | 'used_up' | 'used_by_you' | 'for_others' | 'too_few'

/** Why a code is refused for this buyer now; null if it is valid. */
function whyNotFor(
  state: PlatformState,
  discount: DiscountCode,
  { email, now, quantity }: { email: string; now: number; quantity: number }
): WhyNot | null {
  if (statusOf(discount, now) !== 'ACTIVE') return 'ended'
  const uses = usesOf(state, discount)
  if (uses.length >= (discount.usageLimit ?? Number.POSITIVE_INFINITY)) return 'used_up'
  if (discount.oncePerCustomer && uses.some(order => sameEmail(order.email, email))) return 'used_by_you'
  if (quantity < (discount.minimum ?? 0)) return 'too_few'
  const { customers } = discount
  if (customers && !(state.customers ?? []).some(one => customers.includes(one.id) && sameEmail(one.email, email)))
    return 'for_others'
  return null
}
