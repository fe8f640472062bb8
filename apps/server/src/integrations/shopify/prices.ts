import { z } from 'zod'
import { documents } from './documents.ts'
import { toGid } from './ids.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import { UserErrors } from './shapes.ts'
import type { Execute } from './transport.ts'

/** The platform's limit for one call. */
export const PRICES_A_CALL = 250

/** Writes prices of one product's variants, all or none of each 250. A refusal stops it. Idempotent. */
export async function setPrices(
  execute: Execute,
  productId: string,
  prices: ReadonlyMap<string, string>
): Promise<ShopifyResult<null>> {
  const variants = [...prices].map(([id, price]) => ({ id: toGid('ProductVariant', id), price }))
  for (let at = 0; at < variants.length; at += PRICES_A_CALL) {
    const reply = await execute(
      documents.setPrices,
      { productId: toGid('Product', productId), variants: variants.slice(at, at + PRICES_A_CALL) },
      z.object({ productVariantsBulkUpdate: z.object({ userErrors: UserErrors }).nullable() })
    )
    if (!reply.ok) return reply
    const errors = reply.value.productVariantsBulkUpdate?.userErrors ?? []
    if (errors.length > 0) return failed('rejected', errors.map(error => error.message).join('; '))
  }
  return done(null)
}
