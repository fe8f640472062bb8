import { and, desc, eq } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { enqueueTags } from '../commerce/index.ts'
import { enqueueMail } from '../mail/index.ts'
import { isServed, orderMailColumns, orderMailFrom } from '../orders/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'

/** Informs the customer and the platform that an order's proxies work. */
export async function announceDelivery(ctx: AppContext, orderId: number): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const [row] = await unit.tx
      .select({ order: orders, about: orderMailColumns })
      .from(orders)
      .innerJoin(users, eq(users.id, orders.userId))
      .where(eq(orders.id, orderId))
    if (!row) return
    const { order, about } = row
    // It was given back, or has ended.
    if (!isServed(order.state)) return
    const mail = orderMailFrom(about)
    const [delivery] = await unit.tx
      .select({ id: orderEvents.id })
      .from(orderEvents)
      .where(and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'deliver_all')))
      .orderBy(desc(orderEvents.id))
      .limit(1)
    enqueueMail(unit, {
      ...mail,
      template: 'proxies-delivered',
      data: {
        ...mail.data,
        proxies: order.deliveryNum,
        expires_at: iso(order.expiredAt ?? unit.now),
        dashboard_url: `${ctx.config.publicUrl}/dashboard/index/proxies`
      },
      // A revived order is announced again, even if it ends at the same instant as before.
      key: `delivered:${order.id}:${delivery?.id ?? iso(order.expiredAt ?? unit.now)}`
    })
    const { platformOrderId } = order
    if (platformOrderId) enqueueTags(unit, { platformOrderId, tags: ['delivered'] }, 'delivered')
  })
}
