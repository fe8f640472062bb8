import { z } from 'zod'
import { documents } from './documents.ts'
import { toGid } from './ids.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import { UserErrors } from './shapes.ts'
import type { Execute } from './transport.ts'

/** Writes prices of one product's variants, all or none; a refusal has the platform's own words. */
export async function setPrices(
  execute: Execute,
  productId: string,
  prices: ReadonlyMap<string, string>
): Promise<ShopifyResult<null>> {
  const variants = [...prices].map(([id, price]) => ({ id: toGid('ProductVariant', id), price }))
  const reply = await execute(
    documents.setPrices,
    { productId: toGid('Product', productId), variants },
    z.object({ productVariantsBulkUpdate: z.object({ userErrors: UserErrors }).nullable() })
  )
  if (!reply.ok) return reply
  const errors = reply.value.productVariantsBulkUpdate?.userErrors ?? []
  return errors.length === 0 ? done(null) : failed('rejected', errors.map(error => error.message).join('; '))
}
