import type { PlatformProduct, PlatformState } from './state.ts'

/** Gives variants of a product other prices, by their ids; the others keep theirs. */
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
