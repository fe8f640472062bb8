import type { Product } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'

export const activeVariants = (product: Product) => product.variants.filter(variant => variant.is_active)

/** The most addresses of one variant. A sum would count a server group shared by two variants twice. */
export const stockOf = (product: Product) =>
  activeVariants(product).reduce((most, variant) => Math.max(most, variant.variant_stock), 0)

export function productPath(product: Product): string {
  const collection = product.product_collections[0]
  return collection
    ? `${pageAt('product')}?parId=${collection.id}&id=${product.id}`
    : `${pageAt('product')}?id=${product.id}`
}
