import { documents } from './documents.ts'
import { failed, shopBase, type ShopifyFailure } from './result.ts'
import { ShopInfo } from './shapes.ts'
import type { Execute } from './transport.ts'

export type CheckoutLine = { variantId: string; quantity: number }

export type CheckoutInput = {
  shopUrl: string
  lines: readonly CheckoutLine[]
  email?: string
  note?: string
  /** The paid order returns these as `note_attributes`, which identify our order. */
  attributes: { order_id: string; renewal?: boolean }
  discountCodes?: readonly string[]
}

/**
 * The cart permalink that opens the platform's checkout with everything filled in. Null if the shop's address is not
 * set. Quantities have to be positive whole numbers.
 */
export function checkoutUrl(input: CheckoutInput): string | null {
  const base = shopBase(input.shopUrl)
  if (!base) return null
  for (const line of input.lines) {
    if (!/^\d+$/.test(line.variantId)) throw new RangeError(`Not a platform variant id: ${line.variantId}`)
    if (!Number.isSafeInteger(line.quantity) || line.quantity < 1)
      throw new RangeError(`Not a quantity: ${line.quantity}`)
  }
  const query = new URLSearchParams()
  if (input.email) query.set('checkout[email]', input.email)
  if (input.note) query.set('note', input.note)
  query.set('attributes[order_id]', input.attributes.order_id)
  if (input.attributes.renewal) query.set('attributes[renewal]', '1')
  const codes = (input.discountCodes ?? []).filter(code => code !== '')
  // The platform takes several codes as one comma-separated value.
  if (codes.length > 0) query.set('discount', codes.join(','))
  const cart = input.lines.map(line => `${line.variantId}:${line.quantity}`).join(',')
  return `${base}/cart/${cart}?${query.toString()}`
}

/** The scope for orders older than 60 days, which the platform grants on request. */
export const ALL_ORDERS = 'read_all_orders'

/**
 * Why the platform returned no order: it is missing, or hidden from the app. The answers do not differ.
 * @param otherwise the message if the app may see all orders
 */
export async function orderNotShown(execute: Execute, orderId: string, otherwise: string): Promise<ShopifyFailure> {
  const shop = await execute(documents.shop, {}, ShopInfo)
  if (!shop.ok || shop.value.scopes.includes(ALL_ORDERS)) return failed('not_found', otherwise)
  return failed(
    'not_found',
    `The e-commerce platform does not show order ${orderId}. It shows orders older than 60 days only to an app with the permission ${ALL_ORDERS}, which the access token lacks.`
  )
}
