import { routes } from '@netlet/contract'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { exportOrders } from './export-csv.ts'
import { setExpiry } from './extend.ts'
import { historyOf } from './history.ts'
import { listOrders } from './list.ts'
import { paymentStatus } from './payment.ts'
import { placeOrder } from './place-order.ts'
import { removeOrder } from './remove.ts'
import { statistics } from './statistics.ts'

export function orderRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.orders.checkout, ({ body, caller }) => {
    const { acl_selected, ...options } = body.option_selected
    return placeOrder(ctx, caller, {
      productId: body.product_id,
      quantity: body.quantity,
      options,
      rules: acl_selected
    })
  })
  mount(routes.orders.payment, ({ query, caller }) => paymentStatus(ctx.db, caller.id, query.order_id, ctx.now()))
  mount(routes.orders.list, async ({ query, caller }) => {
    const { product_type, pay_status, username, ...filter } = query
    const page = await listOrders(
      ctx.db,
      {
        ...filter,
        userId: caller.isSuperuser ? null : caller.id,
        username: caller.isSuperuser ? username : undefined,
        collection: product_type,
        paid: pay_status === undefined ? undefined : pay_status === '1'
      },
      ctx.now()
    )
    return ok(page)
  })
  mount(routes.orders.search, async ({ query }) => {
    const { order_id, product_name, ...filter } = query
    return ok(
      await listOrders(ctx.db, { ...filter, orderId: order_id, productName: product_name, userId: null }, ctx.now())
    )
  })
  mount(routes.orders.statistics, async () => ok(await statistics(ctx.db, ctx.now())))
  mount(routes.orders.export, async ({ query, reply }) => {
    const { filename, content } = await exportOrders(ctx, query.order_ids?.length ? query.order_ids : undefined)
    await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${filename}"`)
      .header('cache-control', 'no-store')
      .send(content)
    return SENT
  })
  mount(routes.orders.remove, call => removeOrder(ctx, call.caller, call.params.id))
  mount(routes.orders.extend, call => setExpiry(ctx, call.caller, call.params.id, new Date(call.body.expired_at)))
  mount(routes.orders.events, ({ params }) => historyOf(ctx.db, params.id))
}
