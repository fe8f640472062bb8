import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { mountList } from '../../infra/list/index.ts'
import { findEntryDetail, inboxList } from './inbox.ts'
import { applyPayment, ignorePayment, markRefunded, planDecision } from './resolve.ts'

export function inboxRoutes(mount: Mount, ctx: AppContext): void {
  const { payments } = routes
  mountList(mount, ctx, payments.inbox, () => inboxList({ now: ctx.now() }))
  mount(payments.inboxEntry, ({ params }) => findEntryDetail(ctx.db, params.id))
  mount(payments.plan, ({ params, caller, query }) => planDecision(ctx, caller, params.id, query))
  mount(payments.apply, ({ params, caller, body }) => applyPayment(ctx, caller, params.id, body))
  mount(payments.markRefunded, ({ params, caller, body }) => markRefunded(ctx, caller, params.id, body))
  mount(payments.ignore, ({ params, caller, body }) => ignorePayment(ctx, caller, params.id, body))
}
