import { routes } from '@netlet/contract'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { csvOf, mountList, NEWEST, sendCsv } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { cancelOrder } from './cancel.ts'
import { keyOf } from './checkout-keys.ts'
import { setExpiry } from './extend.ts'
import { statistics } from './figures.ts'
import type { FindPorts } from './find.ts'
import { historyOf } from './history.ts'
import { orderList } from './list.ts'
import { paymentStatus } from './payment.ts'
import { placeOrder } from './place-order.ts'
import { removeOrder } from './remove.ts'

export function orderRoutes(mount: Mount, ctx: AppContext, { ordersPaidBy }: FindPorts): void {
  mount(routes.orders.checkout, async ({ body, caller, request }) => {
    const { acl_selected: rules, ...options } = body.option_selected
    const key = keyOf(request.headers['idempotency-key'])
    if (!key.ok) return key
    const placing = { productId: body.product_id, quantity: body.quantity, options, rules }
    return placeOrder(ctx, caller, placing, { idempotencyKey: key.data })
  })
  mount(routes.orders.payment, ({ query, caller }) => paymentStatus(ctx.db, caller.id, query.order_id, ctx.now()))
  mountList(mount, ctx, routes.orders.list, ({ caller }) =>
    orderList({ userId: caller.isSuperuser ? null : caller.id, now: ctx.now(), ordersPaidBy })
  )
  mountList(mount, ctx, routes.orders.search, () => orderList({ userId: null, now: ctx.now(), ordersPaidBy }))
  mount(routes.orders.statistics, async () => ok(await statistics(ctx.db, ctx.now())))
  mount(routes.orders.export, async ({ query, reply }) => {
    const ids = query.order_ids?.length ? query.order_ids : undefined
    const list = orderList({ userId: null, now: ctx.now(), ids, ordersPaidBy })
    const file = await csvOf(ctx.db, list, NEWEST, { now: ctx.now() })
    if (!file.ok) return file
    await sendCsv(reply, file.data)
    return SENT
  })
  mount(routes.orders.cancel, ({ caller, params }) =>
    cancelOrder(ctx, caller, params.id, caller.isSuperuser ? null : caller.id)
  )
  mount(routes.orders.remove, call => removeOrder(ctx, call.caller, call.params.id))
  mount(routes.orders.extend, call => setExpiry(ctx, call.caller, call.params.id, new Date(call.body.expired_at)))
  mount(routes.orders.events, ({ params }) => historyOf(ctx.db, params.id))
}
