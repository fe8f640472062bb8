import { documents } from './documents.ts'
import { failed, type ShopifyFailure } from './result.ts'
import { ShopInfo } from './shapes.ts'
import type { Execute } from './transport.ts'

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
    `The shop platform does not show order ${orderId}. It shows orders older than 60 days only to an app with the permission ${ALL_ORDERS}, which the access token lacks.`
  )
}
