import type { OrderState, UserFigures } from '@netlet/contract'
import { and, eq, inArray, sql } from './infra/db/drizzle.ts'
import { nameOfDeleted, type AccountPorts } from './domains/accounts/index.ts'
import { forgetActor } from './domains/bulk/index.ts'
import { forgetSyncActor } from './domains/catalog/index.ts'
import { forgetPayer } from './domains/commerce/index.ts'
import { leases } from './domains/inventory/tables.ts'
import { exportOrders, forgetBuyer, hasOwedOrders, lockOwedOrders, platformNamesOf } from './domains/orders/index.ts'
import { orders } from './domains/orders/tables.ts'
import { hasOpenMoney, isUnresolved } from './domains/inbox/index.ts'
import { holdsUnsettledMoney, paidBy } from './domains/payments/index.ts'
import { exportPayments } from './domains/statements/index.ts'
import { payments } from './domains/payments/tables.ts'
import {
  changePoints,
  endCodesOf,
  exportCodes,
  exportPoints,
  syncCodesToAddress,
  forgetInvited,
  levelThresholds,
  pendingCoins
} from './domains/rewards/index.ts'
import { forgetSubscriber } from './domains/status/index.ts'
import { exportTickets, forgetSender } from './domains/support/index.ts'
import { exportEndpoints, forgetEndpoints } from './domains/webhooks/index.ts'
import type { Unit } from './infra/command.ts'
import type { AppContext } from './infra/context.ts'
import type { Executor } from './infra/db/client.ts'

/** What accounts needs from higher domains. */
export const accountPorts = (ctx: Pick<AppContext, 'now'>): AccountPorts => ({
  levelThresholds,
  pendingCoins: (db, userId) => pendingCoins(db, userId, ctx.now()),
  figures,
  changePoints,
  syncCodesToAddress,
  owed,
  forget: [
    // Before the rows that tell which events are the person's.
    async (unit, { id, email }) => forgetPayer(unit, { email, ...(await platformNamesOf(unit.tx, id)) }, isUnresolved),
    async (unit, { id }) => forgetBuyer(unit, id),
    async (unit, user) => forgetSender(unit, user),
    async (unit, { id }) => forgetEndpoints(unit, id),
    async (unit, { id }) => endCodesOf(unit, id),
    async (unit, { email }) => forgetSubscriber(unit, email),
    async (unit, { id }) => forgetInvited(unit, { id, paid: await paidBy(unit.tx, id) }, nameOfDeleted(id)),
    async (unit, { id }) => forgetActor(unit, id, nameOfDeleted(id)),
    async (unit, { id }) => forgetSyncActor(unit, id, nameOfDeleted(id))
  ],
  exports: {
    orders: (db, { id }) => exportOrders(db, id),
    payments: (db, { id }) => exportPayments(db, id),
    points: (db, { id }) => exportPoints(db, id),
    promo_codes: (db, { id }) => exportCodes(db, id),
    tickets: exportTickets,
    webhooks: (db, { id }) => exportEndpoints(db, id)
  }
})

async function figures(db: Executor, userId: number): Promise<UserFigures> {
  const live = sql.join(
    LIVE.map(state => sql`${state}`),
    sql`, `
  )
  const { rows } = await db.execute<Omit<UserFigures, 'owed'>>(sql`
    select count(*) as orders, count(*) filter (where state = 'placed') as unpaid_orders,
      count(*) filter (where state in (${live})) as live_orders,
      (select coalesce(sum(p.amount - p.refunded_amount), 0)::numeric(16, 2)::text from ${payments} p
        join ${orders} o on o.id = p.order_id where o.user_id = ${userId} and p.accepted) as paid
    from ${orders} where user_id = ${userId} and deleted_at is null`)
  const [row] = rows
  if (!row) throw new Error('the figures are one row')
  return { ...row, owed: await owedOf(db, userId, await hasOwedOrders(db, userId, isIgnored)) }
}

/** On a row of `orders`: the payment that it failed with was ignored, and nothing about its money waits any more. */
const isIgnored = sql<boolean>`(exists (
  select 1 from ${payments} p where p.platform_order_id = ${orders.platformOrderId} and p.ignored_at is not null)
  and not ${hasOpenMoney})`

/** States of paid orders that run or are being delivered. */
const LIVE = ['paid', 'delivering', 'partly_delivered', 'delivered'] as const satisfies OrderState[]

/** Locks orders first: a payment that is being settled either counts here or finds its user deleted. */
async function owed(unit: Unit, userId: number): Promise<'leases' | 'order' | null> {
  return owedOf(unit.tx, userId, await lockOwedOrders(unit, userId, isIgnored))
}

async function owedOf(db: Executor, userId: number, owesOrder: boolean): Promise<'leases' | 'order' | null> {
  if (await holdsLeases(db, userId)) return 'leases'
  return owesOrder || (await holdsUnsettledMoney(db, userId)) ? 'order' : null
}

/** Joins tables of two domains that do not know each other's needs. */
async function holdsLeases(tx: Executor, userId: number): Promise<boolean> {
  const live = await tx
    .select({ id: leases.id })
    .from(leases)
    .innerJoin(orders, eq(orders.id, leases.orderId))
    .where(and(eq(orders.userId, userId), inArray(leases.state, ['reserved', 'active'])))
    .limit(1)
  return live.length > 0
}
