import type { Executor } from '../../platform/db/client.ts'
import type { Sender } from '../../platform/jobs.ts'
import type { Shop } from '../../platform/shop.ts'
import { openPlatform } from './platform.ts'
import { registerWebhooksQueue } from './queues.ts'

/** Asks, within the caller's transaction, that the platform be told where to send its webhooks. */
export const requestWebhooks = (tx: Executor, jobs: Sender) =>
  jobs.send(tx, registerWebhooksQueue, {}, { key: 'webhooks' })

/**
 * Tells the platform where to send payments and product changes; repeating it changes nothing. A platform that refuses
 * is not asked again: an administrator has to mend the settings, and saving them asks anew.
 * @throws where another try may help
 */
export async function registerShopWebhooks(shop: Pick<Shop, 'config' | 'db' | 'log' | 'secrets'>): Promise<void> {
  const platform = await openPlatform(shop)
  if (!platform.ok) return
  const registered = await platform.data.registerWebhooks(shop.config.publicUrl)
  if (registered.ok) {
    shop.log.info({ queue: registerWebhooksQueue.name, ...registered.value }, 'webhooks are registered')
    return
  }
  if (registered.retryable) throw new Error(registered.message)
  shop.log.warn({ queue: registerWebhooksQueue.name, reason: registered.reason }, registered.message)
}
