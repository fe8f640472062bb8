import { z } from 'zod'
import { Name } from '../foreign-texts.ts'
import { documents } from './documents.ts'
import { type ShopifyResult, done, failed } from './result.ts'
import { UserErrors, page, toGid } from './shapes.ts'
import type { Execute } from './transport.ts'

const Customer = z.object({ id: Name, tags: z.array(Name) })
export type ShopifyCustomer = z.infer<typeof Customer>

/** `email`: null for a customer without an address; undefined if the app may not read it. */
const Listed = Customer.extend({
  defaultEmailAddress: z.object({ emailAddress: Name.optional() }).nullish()
}).transform(({ id, tags, defaultEmailAddress: address }) => ({
  id,
  tags,
  email: address === null ? null : address?.emailAddress
}))
export type ListedCustomer = z.infer<typeof Listed>

/** The platform stores addresses in lower case, and may compare them exactly. */
export const addressThere = (email: string): string => email.toLowerCase()

/** The platform's customer with an e-mail address; null if there is none. */
export async function readCustomer(execute: Execute, email: string): Promise<ShopifyResult<ShopifyCustomer | null>> {
  const reply = await execute(
    documents.customer,
    { email: addressThere(email) },
    z.object({ customerByIdentifier: Customer.nullable() })
  )
  return reply.ok ? done(reply.value.customerByIdentifier) : reply
}

/** A page of 100 customers by ascending id, and the cursor of the next one. */
export function readCustomers(
  execute: Execute,
  after: string | null
): Promise<ShopifyResult<{ nodes: ListedCustomer[]; next: string | null }>> {
  return execute(
    documents.customers,
    { after },
    z.object({ customers: page(Listed) }).transform(data => data.customers)
  )
}

/** Adds and removes tags of a customer. Idempotent. @param id the platform's id, as in `readCustomer` */
export async function tagCustomer(
  execute: Execute,
  id: string,
  { add, remove }: { add: readonly string[]; remove: readonly string[] }
): Promise<ShopifyResult<null>> {
  const Tagged = z.object({ userErrors: UserErrors }).nullish()
  const reply = await execute(
    documents.tagCustomer,
    { id, add, withAdd: add.length > 0, remove, withRemove: remove.length > 0 },
    z.object({ tagsAdd: Tagged, tagsRemove: Tagged })
  )
  if (!reply.ok) return reply
  const errors = [reply.value.tagsRemove, reply.value.tagsAdd].flatMap(tagged => tagged?.userErrors ?? [])
  return errors.length === 0 ? done(null) : failed('rejected', errors.map(error => error.message).join('; '))
}

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
