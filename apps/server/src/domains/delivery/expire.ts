import { and, eq } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { inBatches } from '../../infra/batches.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { termOf } from '../catalog/index.ts'
import { agentProgress, removeDesiredUsers } from '../servers/index.ts'
import { requestRevocationProofs } from '../proofs/index.ts'
import { enqueueMail } from '../mail/index.ts'
import {
  endGrace,
  expireOrder,
  graceAfter,
  heldUntil,
  isServed,
  lockExpired,
  lockGraceEnded,
  orderMail,
  renewableUntil,
  type OrderRow
} from '../orders/index.ts'
import { readSettings } from '../settings/index.ts'
import { advance } from './advance.ts'
import { retireProxies } from './holdings.ts'
import { servedShares, usersOf } from './start.ts'
import { proxies } from './tables.ts'

const BATCH = 50

/**
 * Ends orders whose time is over. Their users leave the agents at once. Their addresses stay held for a grace, in which
 * a renewal brings the same proxies back.
 * @returns how many orders expired
 */
export const expireOrders = (ctx: AppContext): Promise<number> =>
  inBatches(ctx, BATCH, async unit => {
    const { grace_hours } = await readSettings(unit.tx, ctx.secrets)
    const ended: OrderRow[] = []
    // From now on: a worker that was away must not shorten the time in which the customer can renew.
    const graceUntil = graceAfter(unit.now, grace_hours, unit.now)
    for (const order of await lockExpired(unit, BATCH)) ended.push(await expire(unit, ctx, order, graceUntil))
    return advanceAll(unit, ended)
  })

async function expire(
  unit: Unit,
  { config }: Pick<AppContext, 'config'>,
  order: OrderRow,
  graceUntil: Date | null
): Promise<OrderRow> {
  const days = await termOf(unit.tx, order.variantId)
  const expired = await expireOrder(unit, order, heldUntil(order, graceUntil, days, unit.now))
  await stopProxies(unit, expired)
  await removeDesiredUsers(unit, order.id)
  await notifyCustomer(unit, expired, days, config.publicUrl)
  return expired
}

/** Whether an order ends at once, because its time was shortened and is over. */
export const endsAtOnce = ({ state, expiredAt }: Pick<OrderRow, 'state' | 'expiredAt'>, now: Date): boolean =>
  isServed(state) && expiredAt !== null && expiredAt <= now

/**
 * Ends a locked order whose time is over because some of it was taken back. The grace counts from the expiry, so that a
 * renewal in the grace that is refunded does not prolong it.
 */
export async function expireShortened(
  unit: Unit,
  ctx: Pick<AppContext, 'config'>,
  order: OrderRow,
  graceHours: number
): Promise<void> {
  if (!order.expiredAt || !endsAtOnce(order, unit.now)) return
  await advanceAll(unit, [await expire(unit, ctx, order, graceAfter(order.expiredAt, graceHours, unit.now))])
}

/**
 * Gives back the addresses of expired orders that were not renewed in their grace.
 * @returns how many graces ended
 */
export const endGraces = (ctx: AppContext): Promise<number> =>
  inBatches(ctx, BATCH, async unit => {
    const due = await lockGraceEnded(unit, BATCH)
    for (const order of due) {
      await requestProofsAgain(unit, order)
      await endGrace(unit, order)
      await retireProxies(unit, order.id)
    }
    return advanceAll(unit, due)
  })

/** Tries the credentials again when the addresses return to stock. Agents in step dropped them at the expiry. */
async function requestProofsAgain(unit: Unit, order: OrderRow): Promise<void> {
  const waiting = await agentProgress(unit.tx, order.id)
  const users = usersOf(order, await servedShares(unit.tx, order.id))
  const confirmed = users.filter(user => !waiting.some(agent => agent.serverId === user.serverId))
  await requestRevocationProofs(unit, confirmed, 'grace_ended')
}

/** Addresses return to stock if no grace holds them and no agent has to confirm. @returns the number of orders */
async function advanceAll(unit: Unit, some: OrderRow[]): Promise<number> {
  await advance(
    unit,
    some.map(order => order.id)
  )
  return some.length
}

/** In the grace, proxies wait for their agents again. Those that a change gave back stay retired. */
async function stopProxies(unit: Unit, { id, graceUntil }: OrderRow): Promise<void> {
  if (!graceUntil) await retireProxies(unit, id)
  else
    await unit.tx
      .update(proxies)
      .set({ state: 'pending', updatedAt: unit.now })
      .where(and(eq(proxies.orderId, id), eq(proxies.state, 'live')))
}

async function notifyCustomer(unit: Unit, order: OrderRow, days: number, publicUrl: string): Promise<void> {
  const mail = await orderMail(unit.tx, order.id)
  if (!mail) return
  enqueueMail(unit, {
    ...mail,
    template: 'order-expired',
    data: {
      ...mail.data,
      proxies: order.quantity,
      expired_at: iso(order.expiredAt ?? unit.now),
      grace_until: isoOrNull(renewableUntil(order, days, unit.now)),
      renewal_days: days,
      pending: order.pendingUntil !== null && order.pendingUntil > unit.now,
      renew_url: `${publicUrl}/dashboard/index/proxies?renew=${order.id}`,
      shop_url: `${publicUrl}/product`
    },
    // A term that was given and taken back may end twice at the same instant.
    key: `expired:${order.id}:${iso(unit.now)}`
  })
}

/** Takes the users of ended orders off the agents. Once those have confirmed, the addresses return to stock. */
export async function endDelivery(unit: Unit, orderIds: number[]): Promise<void> {
  await retireProxies(unit, orderIds)
  for (const orderId of orderIds) await removeDesiredUsers(unit, orderId)
  // An order that was never on an agent gives its addresses back here.
  await advance(unit, orderIds)
}
