import { and, eq, isNull, sql } from 'drizzle-orm'
import { SYSTEM } from '../../../infra/actor.ts'
import { iso } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { users } from '../../accounts/tables.ts'
import { takeUnannounced } from '../../fleet/index.ts'
import { enqueueMail } from '../../mail/index.ts'
import { orders } from '../../orders/tables.ts'
import { proxies } from '../tables.ts'

/** Tells customers, once for each outage, that addresses of theirs do not work. */
export async function announceOutages(ctx: AppContext): Promise<void> {
  while (await announceOne(ctx));
}

/** @returns whether there was one */
function announceOne(ctx: AppContext): Promise<boolean> {
  return command(ctx, SYSTEM, async unit => {
    const outage = await takeUnannounced(unit)
    if (!outage) return false
    const concerned = await unit.tx
      .select({
        id: orders.id,
        publicId: orders.publicId,
        product: orders.productName,
        variant: orders.variantName,
        username: users.username,
        email: users.email,
        language: users.language,
        addresses: sql<number>`count(*)::int`
      })
      .from(proxies)
      .innerJoin(orders, and(eq(orders.id, proxies.orderId), isNull(orders.deletedAt)))
      .innerJoin(users, eq(users.id, orders.userId))
      .where(and(eq(proxies.serverId, outage.serverId), eq(proxies.state, 'live')))
      .groupBy(orders.id, users.id)
    for (const order of concerned) {
      enqueueMail(unit, {
        to: order.email,
        language: order.language,
        template: 'server-outage',
        data: {
          username: order.username,
          order_id: order.publicId,
          product_name: `${order.product} · ${order.variant}`,
          addresses: order.addresses,
          since: iso(outage.startedAt)
        },
        key: `outage:${outage.id}:${order.id}`
      })
    }
    return true
  })
}
