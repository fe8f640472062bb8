import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { mountList } from '../../infra/list/index.ts'
import { findEntryDetail, inboxList } from './inbox.ts'
import { refundOnPlatform } from './refund-on-platform.ts'
import { renewCheckout } from './renew-checkout.ts'
import { applyPayment, ignorePayment, markRefunded } from './resolve.ts'

export function paymentRoutes(mount: Mount, ctx: AppContext): void {
  const { payments, orders } = routes
  mount(orders.renew, ({ params, caller }) => renewCheckout(ctx, params.id, caller.isSuperuser ? null : caller.id))
  mount(orders.refund, ({ params, caller, body }) => refundOnPlatform(ctx, caller, params.id, body))
  mountList(mount, ctx, payments.inbox, () => inboxList)
  mount(payments.inboxEntry, ({ params }) => findEntryDetail(ctx.db, params.id))
  mount(payments.apply, ({ params, caller, body }) => applyPayment(ctx, caller, params.id, body))
  mount(payments.markRefunded, ({ params, caller, body }) => markRefunded(ctx, caller, params.id, body))
  mount(payments.ignore, ({ params, caller, body }) => ignorePayment(ctx, caller, params.id, body))
}
