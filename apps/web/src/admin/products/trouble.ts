import type { Product } from '@netlet/contract'

/** Variants whose price differs from the platform's. */
export const driftsOf = ({ variants }: Product) => variants.filter(variant => variant.price_drift !== null)

/** Variants on sale without a server group. */
export const withoutGroup = ({ variants }: Product) =>
  variants.filter(variant => variant.is_active && variant.server_group === null)

/** Variants that the platform sells only as long as its own stock lasts. */
export const stockTrackedVariants = ({ variants }: Product) =>
  variants.filter(variant => variant.platform_stock !== 'none')

/** Variants whose checkout asks for an address and a shipping rate. */
export const shippedVariants = ({ variants }: Product) => variants.filter(variant => variant.shipped)

/** Needs a decision. Must match the list's filter `problem`. */
export const hasProblem = (product: Product): boolean =>
  !product.valid ||
  product.old_flag ||
  driftsOf(product).length > 0 ||
  withoutGroup(product).length > 0 ||
  stockTrackedVariants(product).length > 0 ||
  shippedVariants(product).length > 0

/** Why the platform's product cannot be bought by a checkout link. */
export const whyInvalid = ({ unpublished, subscription_only }: Product) =>
  subscription_only ? 'subscription' : unpublished ? 'unpublished' : 'withdrawn'
