import { type Refusal, refuse } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Result, ok } from '../../infra/result.ts'
import { eq } from '../../infra/db/drizzle.ts'
import {
  type Shopify,
  type ShopifyFailure,
  type ShopifyResult,
  createShopify,
  shopBase
} from '../../integrations/shopify/index.ts'
import { readSettings } from '../settings/index.ts'
import { tagOrderQueue } from './queues.ts'
import { platformChecks } from './tables.ts'
import { accessOf, openTokens } from './token.ts'

/** The e-commerce platform of the saved settings; 'platform_not_configured' if there is none. */
export async function openPlatform(ctx: AppContext): Promise<Result<Shopify>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  if (accessOf(settings) === null) return refuse('platform_not_configured')
  return ok(
    createShopify({
      shopUrl: settings.shopify_shop_url,
      accessToken: openTokens(ctx, settings),
      apiSecret: settings.shopify_api_secret,
      onlineStore: await onlineStoreOf(ctx, settings.shopify_shop_url),
      ...ctx.platformLimits
    })
  )
}

/** The publication of this shop's Online Store, as the last check found it. */
async function onlineStoreOf(ctx: AppContext, shopUrl: string): Promise<string | null> {
  const [row] = await ctx.db.select().from(platformChecks).where(eq(platformChecks.name, 'online_store'))
  const { shop, publication = null } = (row?.result ?? {}) as { shop?: string; publication?: string | null }
  return shop === shopBase(shopUrl) ? publication : null
}

/** The platform's failure as our refusal, with its message for the operator. */
export function platformRefusal(failure: ShopifyFailure): Refusal {
  if (failure.reason === 'not_configured') return refuse('platform_not_configured')
  return refuse('platform_unavailable', { params: { message: failure.message }, data: { platform: failure.reason } })
}

type OrderTags = { platformOrderId: string; tags: string[]; note?: string }

/** Tags the platform's order in the background. @param key distinguishes the tags that one order gets over time */
export function enqueueTags(unit: Unit, order: OrderTags, key: string): void {
  unit.jobs.send(tagOrderQueue, order, { key: `${order.platformOrderId}:${key}` })
}

/** An order has one of these tags: the delivery replaces the failure. */
const [FAILED, DELIVERED] = ['delivery_fail', 'delivered']

/**
 * Tags a platform order. Delivery removes the tag of an earlier failure, and a late job does not set it again.
 * @throws if a retry may help
 */
export async function tagOrder(ctx: AppContext, { platformOrderId, tags, note }: OrderTags): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error('The platform is not configured')
  const tagged = await setTags(platform.data, { platformOrderId, tags, note })
  if (tagged.ok) return
  // Only a rejection of the tag itself is final. Other failures, such as a wrong key or a broken reply, may pass.
  if (tagged.reason !== 'rejected' && tagged.reason !== 'not_found')
    throw new Error(platformRefusal(tagged).msg ?? tagged.message)
  ctx.log.error({ platformOrderId, tags, reason: tagged.message }, 'the platform refused a tag')
}

async function setTags(
  platform: Shopify,
  { platformOrderId, tags, note }: { platformOrderId: string; tags: string[]; note: string | undefined }
): Promise<ShopifyResult<unknown>> {
  if (tags.includes(FAILED)) {
    const found = await platform.order(platformOrderId)
    if (!found.ok || found.value.tags.includes(DELIVERED)) return found
  }
  return platform.tagOrder(platformOrderId, tags, { without: tags.includes(DELIVERED) ? [FAILED] : [], note })
}
