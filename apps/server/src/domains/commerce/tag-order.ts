import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform, platformRefusal } from './platform.ts'
import { tagOrderQueue } from './queues.ts'

export type OrderTags = { platformOrderId: string; tags: string[]; note?: string }

/** Tags the platform's order in the background. @param key tells apart the tags that one order gets over time */
export function enqueueTags(unit: Unit, order: OrderTags, key: string): void {
  unit.jobs.send(tagOrderQueue, order, { key: `${order.platformOrderId}:${key}` })
}

/** Tags a platform order. @throws where another try may help */
export async function tagOrder(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'log'>,
  { platformOrderId, tags, note }: OrderTags
): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error('The platform is not configured')
  const tagged = await platform.data.tagOrder(platformOrderId, tags, note)
  if (tagged.ok) return
  if (tagged.retryable) throw new Error(platformRefusal(tagged).msg ?? tagged.message)
  ctx.log.error({ platformOrderId, tags, reason: tagged.message }, 'the platform refused a tag')
}
