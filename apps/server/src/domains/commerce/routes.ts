import { refuse, routes } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { createLimiter } from '../../infra/turns.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { recordUnreadable, receiveEvent } from './receive-event.ts'
import { takeOverWebhooks } from './register-webhooks.ts'
import { endFormerSecrets, readWebhookSecrets } from './webhook-secrets.ts'

const MONEY_TOPICS = [
  'orders/create',
  'orders/paid',
  'orders/cancelled',
  'refunds/',
  'order_transactions/',
  'disputes/'
]
const PRODUCT_TOPICS = ['products/']

/**
 * An import sends thousands of product events. They get few database connections, so that payments find one. The rest
 * is refused if it cannot wait long enough, and the platform sends it again.
 */
const PRODUCTS = { atOnce: 2, longest: 200 }

export function commerceRoutes(mount: Mount, ctx: AppContext): void {
  const { orders, settings } = routes
  const products = createLimiter(PRODUCTS)
  const onUnreadable = (topics: readonly string[]) => (request: FastifyRequest, status: number) =>
    recordUnreadable(ctx, request, { status, topics }).catch((error: unknown) =>
      ctx.log.debug({ err: error }, 'a refused webhook could not be written down')
    )
  mount(orders.payWebhook, ({ request }) => receiveEvent(ctx, request, MONEY_TOPICS), {
    onUnreadable: onUnreadable(MONEY_TOPICS)
  })
  mount(
    orders.productWebhook,
    async ({ request }) =>
      products.isFull() ? refuse('unavailable') : products.take(() => receiveEvent(ctx, request, PRODUCT_TOPICS)),
    { onUnreadable: onUnreadable(PRODUCT_TOPICS) }
  )
  mount(settings.takeOverWebhooks, ({ caller }) => takeOverWebhooks(ctx, caller))
  mount(settings.webhookSecrets, async () => ok(await readWebhookSecrets(ctx)))
  mount(settings.endFormerSecrets, ({ caller }) => endFormerSecrets(ctx, caller))
}
