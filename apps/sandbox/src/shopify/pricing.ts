import { toCents, toMoney } from '../kit/money.ts'
import { productsOf, type Checkout, type PlatformOrder, type PlatformState } from './state.ts'

export type PricedCheckout = {
  lines: Omit<PlatformOrder['lines'][number], 'id'>[]
  linesPrice: string
  discounts: PlatformOrder['discounts']
  unknownCodes: string[]
  totalDiscounts: string
  totalPrice: string
}

/** Prices a cart by today's catalogue; null where a variant is not for sale. Codes apply one after the other. */
export function priceCheckout(
  state: PlatformState,
  checkout: Pick<Checkout, 'lines' | 'discountCodes'>
): PricedCheckout | null {
  const products = productsOf(state).filter(product => product.status === 'ACTIVE')
  const lines: PricedCheckout['lines'] = []
  for (const { variantId, quantity } of checkout.lines) {
    const product = products.find(one => one.variants.some(variant => variant.id === variantId))
    const variant = product?.variants.find(one => one.id === variantId)
    if (!product || !variant) return null
    const { price, title: variantTitle } = variant
    lines.push({ productId: product.id, variantId, title: product.title, variantTitle, quantity, price })
  }
  const linesCents = lines.reduce((sum, line) => sum + toCents(line.price) * line.quantity, 0)
  let left = linesCents
  const discounts: PricedCheckout['discounts'] = []
  const unknownCodes: string[] = []
  for (const wanted of new Set(checkout.discountCodes)) {
    const known = state.discountCodes.find(one => one.code.toLowerCase() === wanted.toLowerCase())
    if (!known) {
      unknownCodes.push(wanted)
      continue
    }
    // toCents reads a percentage's two decimals exactly, so the product is exact before the one division.
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
    totalDiscounts: toMoney(linesCents - left),
    totalPrice: toMoney(left)
  }
}
