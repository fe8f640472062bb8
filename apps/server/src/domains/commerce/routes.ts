import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { noteUnreadable, receiveEvent } from './receive-event.ts'
import { takeOverWebhooks } from './register-webhooks.ts'
import { endFormerSecrets, readWebhookSecrets } from './webhook-secrets.ts'

const MONEY_TOPICS = ['orders/paid', 'orders/cancelled', 'refunds/', 'disputes/']
const PRODUCT_TOPICS = ['products/']

export function commerceRoutes(mount: Mount, ctx: AppContext): void {
  const { orders, settings } = routes
  for (const [route, topics] of [
    [orders.payWebhook, MONEY_TOPICS],
    [orders.productWebhook, PRODUCT_TOPICS]
  ] as const)
    mount(route, ({ request }) => receiveEvent(ctx, request, topics), {
      onUnreadable: (request, status) =>
        noteUnreadable(ctx, request, { status, topics }).catch((error: unknown) =>
          ctx.log.debug({ err: error }, 'a refused webhook could not be written down')
        )
    })
  mount(settings.takeOverWebhooks, ({ caller }) => takeOverWebhooks(ctx, caller))
  mount(settings.webhookSecrets, async () => ok(await readWebhookSecrets(ctx)))
  mount(settings.endFormerSecrets, ({ caller }) => endFormerSecrets(ctx, caller))
}
