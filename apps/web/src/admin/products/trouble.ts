import type { Product } from '@netlet/contract'

/** Variants whose price differs from the platform's. */
export const driftsOf = ({ variants }: Product) => variants.filter(variant => variant.price_drift !== null)

/** Variants on sale without a server group. */
export const withoutGroup = ({ variants }: Product) =>
  variants.filter(variant => variant.is_active && variant.server_group === null)

/** Needs a decision. Must match the list's filter `problem`. */
export const hasProblem = (product: Product): boolean =>
  !product.valid || product.old_flag || driftsOf(product).length > 0 || withoutGroup(product).length > 0
