import type { Deliveries } from './deliveries.ts'
import { productPayload } from './product-payload.ts'
import { productsOf, type PlatformProduct, type PlatformState } from './state.ts'

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

/** Tells of each product again and again, as the platform does while an import writes them. @returns how many events */
export async function tellOfImport(
  { state, deliveries, at }: { state: PlatformState; deliveries: Deliveries; at: string },
  times: number
): Promise<number> {
  for (const product of productsOf(state)) withPrices(state, product, new Map(), at)
  const events = Array.from({ length: times }, () => productsOf(state).map(productPayload)).flat()
  await deliveries.emit('products/update', ...events)
  return events.length
}
