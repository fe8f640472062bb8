import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { receiveEvent } from './receive-event.ts'
import { takeOverWebhooks } from './register-webhooks.ts'

const MONEY_TOPICS = ['orders/paid', 'orders/cancelled', 'refunds/', 'disputes/']

export function commerceRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.orders.payWebhook, ({ request }) => receiveEvent(ctx, request, MONEY_TOPICS))
  mount(routes.orders.productWebhook, ({ request }) => receiveEvent(ctx, request, ['products/']))
  mount(routes.settings.takeOverWebhooks, ({ caller }) => takeOverWebhooks(ctx, caller))
}
