import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { renewCheckout } from './renew-checkout.ts'

export function paymentRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.orders.renew, ({ params, caller }) =>
    renewCheckout(ctx, params.id, caller.isSuperuser ? null : caller.id)
  )
}
