import type { AppContext } from '../../infra/context.ts'
import { ALL_ORDERS, type ShopifyResult, type ShopifyShop } from '../../integrations/shopify/index.ts'
import { noteAccepted } from '../notices/index.ts'
import { noteCheck } from './checks.ts'
import { openPlatform } from './platform.ts'

/** Without it the platform sends no chargebacks, and lists none. */
export const READ_DISPUTES = 'read_shopify_payments_disputes'

/** Scopes that the access token needs; the last one only for orders older than 60 days. */
export const SCOPES = [
  'read_products',
  'write_products',
  'read_orders',
  'write_orders',
  'read_discounts',
  'write_discounts',
  'read_customers',
  'write_customers',
  READ_DISPUTES,
  ALL_ORDERS
] as const

/**
 * Asks the platform for the shop's data and records the answer or the failure. Undefined if it is not configured.
 * `password`: its Online Store asks visitors for one; false if it does not say.
 */
export async function checkPlatform(
  ctx: AppContext
): Promise<ShopifyResult<ShopifyShop & { password: boolean }> | undefined> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return undefined
  const shop = await platform.data.shop()
  const version = platform.data.apiVersion()
  if (!shop.ok) {
    await noteCheck(ctx, 'shop', { error: shop.message, version })
    return shop
  }
  const password = await platform.data.hasPassword()
  if (!password.ok) ctx.log.warn({ reason: password.message }, 'the platform does not say whether its store is open')
  const seen = { ...shop.value, password: password.ok && password.value }
  await noteCheck(ctx, 'shop', { ...seen, version })
  await noteCheck(ctx, 'domain', { shop: platform.data.base, domain: shop.value.domain })
  await noteAccepted(ctx, 'platform')
  return { ...shop, value: seen }
}
