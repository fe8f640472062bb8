import { refuse, routes } from '@netlet/contract'
import { verifyWebhook, webhookHeaders } from '../../integrations/shopify/index.ts'
import type { Mount } from '../../platform/http/mount.ts'
import { done } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { readSettings } from '../settings/index.ts'
import { recordPlatformEvent } from './platform-events.ts'
import { applyProductEventQueue } from './queues.ts'

/** Takes the platform's product webhooks: verifies, notes the event, and leaves the work to a job. */
export function productWebhookRoute(mount: Mount, shop: Shop): void {
  mount(routes.orders.productWebhook, async ({ request }) => {
    const settings = await readSettings(shop.db, shop.secrets)
    const signature = request.headers['x-shopify-hmac-sha256']
    const signed =
      request.rawBody !== null &&
      typeof signature === 'string' &&
      verifyWebhook(request.rawBody, signature, settings.shopify_api_secret)
    if (!signed) return refuse('bad_signature')
    const headers = webhookHeaders(request.headers)
    if (!headers?.topic.startsWith('products/') || !request.body) return refuse('bad_request')
    const { eventId, topic } = headers
    await shop.db.transaction(async tx => {
      const isNew = await recordPlatformEvent(tx, { eventId, topic, payload: request.body })
      if (isNew) await shop.jobs.send(tx, applyProductEventQueue, { eventId }, { key: eventId })
    })
    return done
  })
}
