import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Shopify, ShopifyResult } from '../../integrations/shopify/index.ts'
import { openPlatform, platformRefusal } from './platform.ts'
import { tagOrderQueue } from './queues.ts'

export type OrderTags = { platformOrderId: string; tags: string[]; note?: string }

/** Tags the platform's order in the background. @param key tells apart the tags that one order gets over time */
export function enqueueTags(unit: Unit, order: OrderTags, key: string): void {
  unit.jobs.send(tagOrderQueue, order, { key: `${order.platformOrderId}:${key}` })
}

/** What was delivered after all did not fail: the one tag takes the other's place. */
const [FAILED, DELIVERED] = ['delivery_fail', 'delivered']

/**
 * Tags a platform order. A failure of before is not told of what is delivered: its tag goes, and it is not set where its
 * job comes late, since the platform was away.
 * @throws where another try may help
 */
export async function tagOrder(ctx: AppContext, { platformOrderId, tags, note }: OrderTags): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error('The platform is not configured')
  const tagged = await setTags(platform.data, { platformOrderId, tags, note })
  if (tagged.ok) return
  // Only what the platform has against the tag itself is final: a key is mended, and a half reply followed by a whole one.
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
