import { and, eq, inArray } from 'drizzle-orm'
import type { AccountPorts } from './domains/accounts/index.ts'
import { leases } from './domains/inventory/tables.ts'
import { orders } from './domains/orders/tables.ts'
import { levelThresholds, pendingCoins, setCoins } from './domains/rewards/index.ts'
import type { AppContext } from './infra/context.ts'
import type { Executor } from './infra/db/client.ts'

/** What accounts gets of the domains above it. */
export const accountPorts = (ctx: Pick<AppContext, 'now'>): AccountPorts => ({
  levelThresholds,
  pendingCoins: (db, userId) => pendingCoins(db, userId, ctx.now()),
  setCoins,
  holdsLeases
})

/** Joins tables of two domains, neither of which knows what a user's deletion needs. */
async function holdsLeases(tx: Executor, userId: number): Promise<boolean> {
  const live = await tx
    .select({ id: leases.id })
    .from(leases)
    .innerJoin(orders, eq(orders.id, leases.orderId))
    .where(and(eq(orders.userId, userId), inArray(leases.state, ['reserved', 'active'])))
    .limit(1)
  return live.length > 0
}
