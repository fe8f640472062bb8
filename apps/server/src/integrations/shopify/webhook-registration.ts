import { z } from 'zod'
import { documents } from './documents.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import { UserErrors, page } from './shapes.ts'
import type { Execute } from './transport.ts'

const PAY_WEBHOOK_PATH = '/api/orders/pay_webhook'
const PRODUCT_WEBHOOK_PATH = '/api/orders/product_webhook'

const wanted = [
  { topic: 'ORDERS_PAID', path: PAY_WEBHOOK_PATH },
  { topic: 'ORDERS_CANCELLED', path: PAY_WEBHOOK_PATH },
  { topic: 'REFUNDS_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'DISPUTES_CREATE', path: PAY_WEBHOOK_PATH },
  { topic: 'DISPUTES_UPDATE', path: PAY_WEBHOOK_PATH },
  { topic: 'PRODUCTS_CREATE', path: PRODUCT_WEBHOOK_PATH },
  { topic: 'PRODUCTS_UPDATE', path: PRODUCT_WEBHOOK_PATH },
  { topic: 'PRODUCTS_DELETE', path: PRODUCT_WEBHOOK_PATH }
] as const

/** How many subscriptions were made, moved to the new address, or found in place. */
export type WebhookRegistration = { created: number; updated: number; kept: number }

const Subscriptions = z
  .object({ webhookSubscriptions: page(z.object({ id: z.string(), topic: z.string(), uri: z.string() })) })
  .transform(data => data.webhookSubscriptions)
const Changed = z.object({ userErrors: UserErrors }).nullable()

export async function registerWebhooks(
  execute: Execute,
  callbackBase: string
): Promise<ShopifyResult<WebhookRegistration>> {
  const present: { id: string; topic: string; uri: string }[] = []
  let after: string | null = null
  do {
    const reply: ShopifyResult<z.infer<typeof Subscriptions>> = await execute(
      documents.webhooks,
      { topics: wanted.map(({ topic }) => topic), after },
      Subscriptions
    )
    if (!reply.ok) return reply
    present.push(...reply.value.nodes)
    after = reply.value.next
  } while (after !== null)

  const base = callbackBase.replace(/\/+$/, '')
  const counts: WebhookRegistration = { created: 0, updated: 0, kept: 0 }
  for (const { topic, path } of wanted) {
    const uri = base + path
    const ours = present.filter(one => one.topic === topic)
    if (ours.some(one => one.uri === uri)) {
      counts.kept++
      continue
    }
    // The platform lists only this app's subscriptions, so one that ends in our path is ours from an older address.
    const moved = ours.find(one => one.uri.endsWith(path))
    const reply = moved
      ? await execute(
          documents.updateWebhook,
          { id: moved.id, uri },
          z.object({ webhookSubscriptionUpdate: Changed }).transform(data => data.webhookSubscriptionUpdate)
        )
      : await execute(
          documents.createWebhook,
          { topic, uri },
          z.object({ webhookSubscriptionCreate: Changed }).transform(data => data.webhookSubscriptionCreate)
        )
    if (!reply.ok) return reply
    const errors = reply.value?.userErrors ?? []
    if (errors.length > 0)
      return failed(
        'rejected',
        `The shop platform refused the webhook ${topic} → ${uri}: ${errors.map(error => error.message).join('; ')}`
      )
    counts[moved ? 'updated' : 'created']++
  }
  return done(counts)
}
