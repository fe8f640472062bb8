import type { WebhookRefusal } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { eq } from '../../infra/db/drizzle.ts'
import {
  ALL_ORDERS,
  READ_PUBLICATIONS,
  type Shopify,
  type ShopifyResult,
  type ShopifyShop
} from '../../integrations/shopify/index.ts'
import { recordAcceptance } from '../notices/index.ts'
import { openPlatform } from './platform.ts'
import { platformChecks } from './tables.ts'

/** Without it the platform sends no chargebacks, and lists none. */
export const READ_DISPUTES = 'read_shopify_payments_disputes'

/** Scopes that the access token needs. The shop goes on without the `OPTIONAL` ones. */
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
  READ_PUBLICATIONS,
  ALL_ORDERS
] as const

/** For variants that are taken out of the Online Store alone, and for orders older than 60 days. */
export const OPTIONAL: readonly string[] = [READ_PUBLICATIONS, ALL_ORDERS]

/** A write scope includes reading: the platform lists only the stronger of the two. */
export const allows = (scopes: readonly string[], wanted: string): boolean =>
  scopes.includes(wanted) || scopes.includes(wanted.replace('read_', 'write_'))

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
    const known = (await readCheck(ctx.db, 'shop'))?.result
    await saveCheck(ctx, 'shop', { error: shop.message, version, password: known?.password, paused: known?.paused })
    return shop
  }
  const password = await platform.data.hasPassword()
  if (!password.ok)
    ctx.log.warn({ reason: password.message }, 'the platform does not say whether its Online Store is open')
  const seen = { ...shop.value, password: password.ok && password.value }
  await saveCheck(ctx, 'shop', { ...seen, version })
  await saveCheck(ctx, 'domain', { shop: platform.data.base, domain: shop.value.domain })
  await recordOnlineStore(ctx, platform.data, shop.value)
  await recordAcceptance(ctx, 'platform')
  return { ...shop, value: seen }
}

/** After a failure, what was read before stays true: the id of the publication does not change. */
async function recordOnlineStore(ctx: AppContext, platform: Shopify, { scopes }: ShopifyShop): Promise<void> {
  const store = allows(scopes, READ_PUBLICATIONS) ? await platform.onlineStore() : { ok: true as const, value: null }
  if (store.ok) await saveCheck(ctx, 'online_store', { shop: platform.base, publication: store.value })
  else ctx.log.warn({ reason: store.message }, 'the platform does not say which publication its Online Store is')
}

/** Refused webhooks of one kind. */
export type Refused = {
  /** Since the last accepted webhook. */
  count: number
  since: string
  topic: string
  /** The signature is valid. Without one, the request only claims to come from our shop. */
  certain: boolean
  /** When a webhook was accepted after the request, which shows that a stranger had sent it. */
  disproved: string | null
}

/** The results of the latest checks of the platform. */
type Checks = {
  shop: ({ name: string; currency: string; scopes: string[] } | { error: string }) & {
    /** Visitors need a password, or there is no checkout. A failed check leaves both as they were. */
    password?: boolean | undefined
    paused?: boolean | undefined
    /** The API version of its answer; null if it did not say. */
    version?: string | null
  }
  /** The platform's own domain of the configured shop. */
  domain: { shop: string; domain: string }
  /** The publication of the configured shop's Online Store; null if there is none, or the app may not ask. */
  online_store: { shop: string; publication: string | null }
  webhooks:
    | { wanted: string[]; present: string[]; foreign: string[]; blocked: boolean; restored: number }
    | { error: string }
  /** Other installations that administrators have been notified of. */
  foreign_told: { origins: string[] }
  /** The last accepted webhook: the SHA-256 of the secret that signed it, and its API version. */
  signed: { topic: string; secret: string; version: string | null }
  /** Refused requests that cannot come from our shop. */
  strangers: { count: number; domain: string }
  /** `until`: the latest change of an order that was read; `more`: the next run continues exactly there. */
  reconciliation: ({ found: number; unreadable?: number } | { error: string }) & { until?: string; more?: boolean }
  /** An order whose payment is authorised and not captured. */
  authorized: { order: string }
  /** All products were read again. */
  products: { read: number; changed: number } | { error: string }
  /** All prices were read again. */
  prices: { read: number; differ: number } | { error: string }
} & Record<`refused_${WebhookRefusal}`, Refused>

/** Records a check's result in place of the previous one. */
export async function recordCheck<K extends keyof Checks>(
  unit: Unit,
  name: K,
  result: Checks[K],
  at: Date = unit.now
): Promise<void> {
  const row = { at, result }
  await unit.tx
    .insert(platformChecks)
    .values({ name, ...row })
    .onConflictDoUpdate({ target: platformChecks.name, set: row })
  unit.publish('platform_event')
}

/** The same in a command of its own. */
export const saveCheck = <K extends keyof Checks>(ctx: AppContext, name: K, result: Checks[K]): Promise<void> =>
  command(ctx, SYSTEM, unit => recordCheck(unit, name, result))

/** The latest result of a check and its time; undefined before the first one. */
export async function readCheck<K extends keyof Checks>(
  db: Executor,
  name: K
): Promise<{ at: Date; result: Checks[K] } | undefined> {
  const [row] = await db.select().from(platformChecks).where(eq(platformChecks.name, name))
  return row && { at: row.at, result: row.result as Checks[K] }
}
