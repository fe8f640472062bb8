import { and, eq, inArray } from 'drizzle-orm'
import { nameOfDeleted, type AccountPorts } from './domains/accounts/index.ts'
import { forgetActor } from './domains/bulk/index.ts'
import { forgetPayer } from './domains/commerce/index.ts'
import { leases } from './domains/inventory/tables.ts'
import { exportOrders, forgetBuyer, lockOwedOrders, platformNamesOf } from './domains/orders/index.ts'
import { orders } from './domains/orders/tables.ts'
import { exportPayments, holdsMoneyOf, isOpen } from './domains/payments/index.ts'
import {
  changePoints,
  exportCodes,
  exportPoints,
  forgetInvited,
  levelThresholds,
  pendingCoins
} from './domains/rewards/index.ts'
import { exportTickets, forgetSender } from './domains/support/index.ts'
import type { Unit } from './infra/command.ts'
import type { AppContext } from './infra/context.ts'
import type { Executor } from './infra/db/client.ts'

/** What accounts gets of the domains above it. */
export const accountPorts = (ctx: Pick<AppContext, 'now'>): AccountPorts => ({
  levelThresholds,
  pendingCoins: (db, userId) => pendingCoins(db, userId, ctx.now()),
  changePoints,
  owed,
  forget: [
    // Before the rows that say which events are the person's.
    async (unit, { id, email }) => forgetPayer(unit, { email, ...(await platformNamesOf(unit.tx, id)) }, isOpen),
    async (unit, { id }) => forgetBuyer(unit, id),
    async (unit, { email }) => forgetSender(unit, email),
    async (unit, person) => forgetInvited(unit, person, nameOfDeleted(person.id)),
    async (unit, { id }) => forgetActor(unit, id, nameOfDeleted(id))
  ],
  exports: {
    orders: (db, { id }) => exportOrders(db, id),
    payments: (db, { id }) => exportPayments(db, id),
    points: (db, { id }) => exportPoints(db, id),
    promo_codes: (db, { id }) => exportCodes(db, id),
    tickets: (db, { email }) => exportTickets(db, email)
  }
})

/** The orders' locks come first: a payment that is being settled is seen as paid, or finds its user deleted. */
async function owed(unit: Unit, userId: number): Promise<'leases' | 'order' | null> {
  const isOwed = await lockOwedOrders(unit, userId)
  if (await holdsLeases(unit.tx, userId)) return 'leases'
  return isOwed || (await holdsMoneyOf(unit.tx, userId)) ? 'order' : null
}

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
