import { and, eq, isNull, sql } from 'drizzle-orm'
import { SYSTEM } from '../../../infra/actor.ts'
import { iso, MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { users } from '../../accounts/tables.ts'
import { takeUnannounced } from '../../fleet/index.ts'
import { enqueueMail } from '../../mail/index.ts'
import { orderMailColumns, orderMailFrom } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { readSettings } from '../../settings/index.ts'
import { proxies } from '../tables.ts'

/** Tells customers, once for each outage, that some of their addresses do not work. */
export async function announceOutages(ctx: AppContext): Promise<void> {
  const { unreachable_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  while (await announceOne(ctx, minutes * MINUTE));
}

/** @returns whether there was one */
function announceOne(ctx: AppContext, lastsMs: number): Promise<boolean> {
  return command(ctx, SYSTEM, async unit => {
    const outage = await takeUnannounced(unit, new Date(unit.now.getTime() - lastsMs))
    if (!outage) return false
    const concerned = await unit.tx
      .select({
        id: orders.id,
        about: orderMailColumns,
        addresses: sql<number>`count(*)::int`
      })
      .from(proxies)
      .innerJoin(orders, and(eq(orders.id, proxies.orderId), isNull(orders.deletedAt)))
      .innerJoin(users, eq(users.id, orders.userId))
      .where(and(eq(proxies.serverId, outage.serverId), eq(proxies.state, 'live')))
      .groupBy(orders.id, users.id)
    for (const { id, about, addresses } of concerned) {
      const mail = orderMailFrom(about)
      enqueueMail(unit, {
        ...mail,
        template: 'server-outage',
        data: { ...mail.data, addresses, since: iso(outage.startedAt) },
        key: `outage:${outage.id}:${id}`
      })
    }
    return true
  })
}
