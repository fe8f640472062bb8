import type { Product } from '@netlet/contract'

/** Variants whose price is another one on the platform. */
export const driftsOf = ({ variants }: Product) => variants.filter(variant => variant.price_drift !== null)

/** Variants on sale that have nowhere to sell from. */
export const withoutGroup = ({ variants }: Product) =>
  variants.filter(variant => variant.is_active && variant.server_group === null)

/** There is something to decide: the list's filter `problem` finds the same. */
export const hasProblem = (product: Product): boolean =>
  !product.valid || product.old_flag || driftsOf(product).length > 0 || withoutGroup(product).length > 0
