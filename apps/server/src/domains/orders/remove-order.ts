import { type BulkEffect, type Reason, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { type Outcomes, type Result, countOutcomes, done } from '../../infra/result.ts'
import { holdsAddresses, leasesOf } from '../inventory/index.ts'
import { SERVED_STATES, isServed } from './states.ts'
import { orders } from './tables.ts'
import { type OrderRow, lockOrder, recordEvent, updateOrder } from './transition.ts'

/** What the deletion of these orders would refuse, as `removeOrderIn` does, and the state of the others. */
export const planRemoval = (db: Executor, ids: number[], { hasOpenMoney }: RemovalPorts): Promise<Outcomes> =>
  countOutcomes(
    db,
    sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${orders} on ${eq(orders.id, sql`asked.id`)}`,
    {
      refused: sql<Reason | null>`case
      when ${orders.id} is null or ${orders.deletedAt} is not null then 'not_found'
      when ${holdsAddresses(orders.id)} then 'order_has_lease'
      when ${inArray(orders.state, [...SERVED_STATES])} then 'order_runs'
      when ${hasOpenMoney} then 'order_has_open_payment'
    end`,
      effect: sql<BulkEffect>`case
      when ${orders.paidAt} is null then 'unpaid'
      when ${orders.state} in ('paid', 'failed') then 'owed'
      else 'ended'
    end`
    }
  )

/** A condition on a row of `orders`, from the payments domain: its money waits for an administrator. */
export type RemovalPorts = { hasOpenMoney: SQL }

/**
 * Removes an order from every list; its row and its history stay. Refused if it holds or reserves addresses, if its
 * paid time runs, or if its money waits for an administrator. Money that comes later restores it (`restoreDeleted`).
 */
export const removeOrder = (ctx: AppContext, by: Actor, id: number, ports: RemovalPorts): Promise<Result<null>> =>
  command(ctx, by, unit => removeOrderIn(unit, id, ports))

/** `removeOrder` as a part of a larger write. */
export async function removeOrderIn(unit: Unit, id: number, { hasOpenMoney }: RemovalPorts): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if ((await leasesOf(unit.tx, id)).length > 0) return refuse('order_has_lease')
  // It lost its addresses with a server and gets others when there is room.
  if (isServed(order.state)) return refuse('order_runs')
  if ((await unit.tx.$count(orders, and(eq(orders.id, id), hasOpenMoney))) > 0) return refuse('order_has_open_payment')
  await updateOrder(unit, id, { deletedAt: unit.now })
  await recordEvent(unit, id, 'deleted')
  unit.audit('order.delete', id, { before: { order_id: order.publicId, state: order.state, amount: order.amount } })
  return done
}

/** Restores a deleted order to the lists, because money came for it or came back. */
export async function restoreDeleted(unit: Unit, order: OrderRow): Promise<OrderRow> {
  if (!order.deletedAt) return order
  return (await updateOrder(unit, order.id, { deletedAt: null })) ?? order
}
