import { routes } from '@netlet/contract'
import { actorOf } from '../../platform/http/actor.ts'
import { SENT, type Mount } from '../../platform/http/mount.ts'
import { ok } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { exportOrders } from './export-csv.ts'
import { setExpiry } from './extend.ts'
import { historyOf } from './history.ts'
import { listOrders } from './list.ts'
import { paymentStatus } from './payment.ts'
import { placeOrder } from './place-order.ts'
import { removeOrder } from './remove.ts'
import { statistics } from './statistics.ts'

export function orderRoutes(mount: Mount, shop: Shop): void {
  mount(routes.orders.checkout, ({ body, caller }) => {
    const { acl_selected, ...options } = body.option_selected
    return placeOrder(shop, caller, {
      productId: body.product_id,
      quantity: body.quantity,
      options,
      rules: acl_selected
    })
  })
  mount(routes.orders.payment, ({ query, caller }) => paymentStatus(shop.db, caller.id, query.order_id, shop.now()))
  mount(routes.orders.list, async ({ query, caller }) => {
    const { product_type, pay_status, username, ...filter } = query
    const page = await listOrders(
      shop.db,
      {
        ...filter,
        userId: caller.isSuperuser ? null : caller.id,
        username: caller.isSuperuser ? username : undefined,
        collection: product_type,
        paid: pay_status === undefined ? undefined : pay_status === '1'
      },
      shop.now()
    )
    return ok(page)
  })
  mount(routes.orders.search, async ({ query }) => {
    const { order_id, product_name, ...filter } = query
    return ok(
      await listOrders(shop.db, { ...filter, orderId: order_id, productName: product_name, userId: null }, shop.now())
    )
  })
  mount(routes.orders.statistics, async () => ok(await statistics(shop.db, shop.now())))
  mount(routes.orders.export, async ({ query, reply }) => {
    const { filename, content } = await exportOrders(shop, query.order_ids?.length ? query.order_ids : undefined)
    await reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${filename}"`)
      .header('cache-control', 'no-store')
      .send(content)
    return SENT
  })
  mount(routes.orders.remove, call => removeOrder(shop, actorOf(call), call.params.id))
  mount(routes.orders.extend, call => setExpiry(shop, actorOf(call), call.params.id, new Date(call.body.expired_at)))
  mount(routes.orders.events, ({ params }) => historyOf(shop.db, params.id))
}
