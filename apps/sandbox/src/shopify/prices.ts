import type { Deliveries } from './deliveries.ts'
import { productPayload } from './product-payload.ts'
import { productsOf, type PlatformProduct, type PlatformState } from './state.ts'

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
