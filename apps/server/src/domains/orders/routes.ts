import { routes } from '@netlet/contract'
import type { FastifyReply } from 'fastify'
import type { UserActor } from '../../infra/actor.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { countRows, csvOf, mountList, NEWEST, sendCsv } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { traceExport } from '../../infra/traced-reads.ts'
import type { AppContext } from '../../infra/context.ts'
import { editClientAccess, readClientAccess } from './client-access.ts'
import { creditDays, editLabel, setExpiry } from './edit-order.ts'
import { statistics } from './figures.ts'
import type { FindPorts } from './find.ts'
import { findOrder, openOrdersOf, orderList } from './list.ts'
import { guardAddressSearch } from './guard-address-search.ts'
import { placeOrder } from './place-order.ts'
import { largestOrder } from './unpaid-limits.ts'
import { removeOrder, type RemovalPorts } from './remove-order.ts'
import { renewCheckout, renewCheckouts } from './renew-checkout.ts'
import { trafficOfOrder, trafficOfUser } from './traffic.ts'
import { addressRoutes } from './address-holders.ts'
import { cancelOrder } from './time-out.ts'
import { openSaleCheck } from './sale-check.ts'
import { paymentStatus } from './present.ts'

export function orderRoutes(
  mount: Mount,
  ctx: AppContext,
  { ordersPaidBy, hasOpenMoney }: FindPorts & RemovalPorts
): void {
  addressRoutes(mount, ctx)
  const saleCheck = openSaleCheck(ctx.now)
  mount(routes.orders.checkout, async ({ body, caller, idempotencyKey }) => {
    const { acl_selected: rules, ...options } = body.option_selected
    const placing = { productId: body.product_id, quantity: body.quantity, options, rules }
    return placeOrder(ctx, caller, placing, { idempotencyKey, saleCheck })
  })
  mount(routes.orders.renew, ({ params, caller }) => renewCheckout(ctx, params.id, caller, saleCheck))
  mount(routes.orders.renewMany, ({ body, caller }) => renewCheckouts(ctx, body.order_ids, caller, saleCheck))
  mount(routes.orders.limits, async ({ caller }) => ok({ addresses: await largestOrder(ctx, caller) }))
  mount(routes.orders.payment, ({ query, caller }) => paymentStatus(ctx.db, caller.id, query.order_id, ctx.now()))
  mountList(
    mount,
    ctx,
    routes.orders.list,
    ({ caller }) => orderList({ userId: caller.isSuperuser ? null : caller.id, now: ctx.now(), ordersPaidBy }),
    ({ caller, query }) => guardAddressSearch(ctx, caller, query)
  )
  mountList(
    mount,
    ctx,
    routes.orders.search,
    () => orderList({ userId: null, now: ctx.now(), ordersPaidBy }),
    ({ caller, query }) => guardAddressSearch(ctx, caller, query)
  )
  mount(routes.orders.statistics, async () => ok(await statistics(ctx.db, ctx.now())))
  const exported = async (caller: UserActor, reply: FastifyReply, ids: readonly number[] | undefined) => {
    const list = orderList({ userId: null, now: ctx.now(), ids, ordersPaidBy })
    await traceExport(ctx, caller, 'order', await ctx.db.readLong(db => countRows(db, list, NEWEST)))
    const file = await ctx.db.readLong(db => csvOf(db, list, NEWEST, { now: ctx.now() }))
    if (!file.ok) return file
    await sendCsv(reply, file.data)
    return SENT
  }
  mount(routes.orders.export, ({ caller, query, reply }) =>
    exported(caller, reply, query.order_ids?.length ? query.order_ids : undefined)
  )
  mount(routes.orders.exportSelected, ({ caller, body, reply }) => exported(caller, reply, body.order_ids))
  mount(routes.orders.cancel, ({ caller, params }) =>
    cancelOrder(ctx, caller, params.id, caller.isSuperuser ? null : caller.id)
  )
  mount(routes.orders.label, ({ caller, params, body }) => editLabel(ctx, caller, params.id, body))
  mount(routes.orders.remove, call => removeOrder(ctx, call.caller, call.params.id, { hasOpenMoney }))
  mount(routes.orders.extend, call => setExpiry(ctx, call.caller, call.params.id, call.body))
  mount(routes.orders.credit, call => creditDays(ctx, call.caller, call.params.id, call.body))
  mount(routes.orders.clientAccess, ({ caller, params }) => readClientAccess(ctx.db, { orderId: params.id, caller }))
  mount(routes.orders.setClientAccess, ({ caller, params, body }) =>
    editClientAccess(ctx, { orderId: params.id, caller }, body)
  )
  mount(routes.orders.traffic, ({ caller, params, query }) => {
    const userId = caller.isSuperuser ? null : caller.id
    return trafficOfOrder(ctx.db, { id: params.id, userId }, { ...query, now: ctx.now() })
  })
  mount(routes.orders.userTraffic, async ({ params, query }) =>
    ok(await trafficOfUser(ctx.db, params.id, { ...query, now: ctx.now() }))
  )
  mount(routes.orders.ofProduct, async ({ params }) => ok(await openOrdersOf(ctx.db, params.id)))
  mount(routes.orders.order, ({ params }) => findOrder(ctx.db, params.id, null, ctx.now()))
}
