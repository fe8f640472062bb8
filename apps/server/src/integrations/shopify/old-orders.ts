import { documents } from './documents.ts'
import { failed, type ShopifyFailure } from './result.ts'
import { ShopInfo } from './shapes.ts'
import type { Execute } from './transport.ts'

/** The permission without which the platform shows no order older than 60 days; it is granted on request. */
export const ALL_ORDERS = 'read_all_orders'

/**
 * Why the platform shows no order of an id. It says the same of an order that it does not have and of one that the app may not see.
 * @param otherwise what to say where the app may see all
 */
export async function orderNotShown(execute: Execute, orderId: string, otherwise: string): Promise<ShopifyFailure> {
  const shop = await execute(documents.shop, {}, ShopInfo)
  if (!shop.ok || shop.value.scopes.includes(ALL_ORDERS)) return failed('not_found', otherwise)
  return failed(
    'not_found',
    `The shop platform does not show order ${orderId}. It shows orders older than 60 days only to an app with the permission ${ALL_ORDERS}, which the access token lacks.`
  )
}
