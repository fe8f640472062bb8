import { createHmac } from 'node:crypto'
import { SHOP_DOMAIN, type Delivery, type PlatformState, type WebhookWrong } from './state.ts'

const VERSION = '2026-07'
export const OTHER_VERSION = '2026-10'
/** More than the shop accepts. */
const TOO_LARGE = 8 * 1024 * 1024 + 1

/** The app's valid secrets, oldest first. After a rotation the older one signs until it is revoked. */
export const secretsOf = (state: PlatformState, first: string): readonly [string, ...string[]] => {
  const [oldest, ...others] = state.appSecrets ?? []
  return oldest === undefined ? [first] : [oldest, ...others]
}

export function webhookRequest(delivery: Delivery, secret: string, wrong: WebhookWrong | undefined) {
  const body =
    wrong === 'too_large'
      ? `${delivery.body.slice(0, -1)},"padding":"${'x'.repeat(TOO_LARGE)}"}`
      : wrong === 'unreadable'
        ? delivery.body.slice(0, delivery.body.length / 2)
        : delivery.body
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Shopify-Captain-Hook',
      'x-shopify-topic': delivery.topic,
      'x-shopify-hmac-sha256': createHmac('sha256', wrong === 'wrong_signature' ? `${secret}-wrong` : secret)
        .update(body)
        .digest('base64'),
      'x-shopify-shop-domain': wrong === 'other_shop' ? 'another-shop.myshopify.com' : SHOP_DOMAIN,
      'x-shopify-api-version': wrong === 'other_version' ? OTHER_VERSION : VERSION,
      'x-shopify-webhook-id': delivery.webhookId,
      'x-shopify-event-id': delivery.eventId,
      'x-shopify-triggered-at': delivery.triggeredAt
    },
    body
  }
}
