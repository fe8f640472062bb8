/** Holds the addresses of an order, or of an order in its grace, for a payment that is on its way. */
import { RESERVATION_MINUTES } from '@netlet/contract'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, inArray, isNull, lte, ne, or, sql } from '../../infra/db/drizzle.ts'
import { hasPaid } from './unpaid-limits.ts'
import { heldUntil, isUnsettled, NOT_PENDING, PENDING_GRACE, renewable } from './renew.ts'
import { isPending, orders } from './tables.ts'
import { updateOrder, type OrderRow } from './transition.ts'

/**
 * What the platform says of a payment that it has not taken. `unproven`: by a method without any proof, such as a bank
 * deposit. `expired`: the platform asks the buyer to pay again.
 */
export type UnpaidState = 'coming' | 'unproven' | 'expired' | 'gone'

/** The platform gives most payments that are pending or authorised a week. */
const HELD_FOR_PAYMENT = PENDING_GRACE
/** For an account that has never paid, and names no proof that it will. */
const HELD_WITHOUT_PROOF = DAY

const later = (one: Date, other: Date | null): Date => (other && other > one ? other : one)
const earlier = (one: Date, other: Date): Date => (one < other ? one : other)
const after = (from: Date, milliseconds: number): Date => new Date(from.getTime() + milliseconds)

/** What the platform says of one of its orders. */
export type Pending = { platformOrderId: string; untaken: UnpaidState }

const isComing = ({ untaken }: Pending): boolean => untaken === 'coming' || untaken === 'unproven'

/**
 * Holds the addresses of a locked order that has not been paid, or lets go of them. The same for one that failed with
 * another payment, while it still has them: the right payment delivers it, and a cent must not hold them for longer.
 */
export async function holdForPayment(unit: Unit, order: OrderRow, pending: Pending): Promise<void> {
  const { createdAt, pendingUntil } = order
  const hasFailed = order.state === 'failed' && isUnsettled(order) && order.reservedUntil > unit.now
  if (order.state !== 'placed' && !hasFailed) return
  if (isComing(pending)) {
    const isBrief = pending.untaken === 'unproven' && !(await hasPaid(unit.tx, order.userId))
    const held = addHold(unit, order, pending, after(createdAt, isBrief ? HELD_WITHOUT_PROOF : HELD_FOR_PAYMENT))
    return hold(unit, order, { ...held, reservedUntil: held.pendingUntil })
  }
  if (!pendingUntil) return
  const left = releaseHold(unit, order, pending)
  const again = pending.untaken === 'expired' ? after(unit.now, RESERVATION_MINUTES * MINUTE) : unit.now
  const normal = later(after(createdAt, RESERVATION_MINUTES * MINUTE), earlier(again, pendingUntil))
  await hold(unit, order, { ...left, reservedUntil: left.pendingUntil ?? normal })
}

/**
 * Lets the grace of a locked order last while a renewal's payment is on its way, or end as any other if it is not.
 * @param renewal.since when the renewal was ordered
 * @param renewal.days the term that it buys
 */
export async function holdForRenewal(
  unit: Unit,
  order: OrderRow,
  pending: Pending,
  renewal: { since: Date; days: number; graceHours: number }
): Promise<void> {
  if (!renewable(order, unit.now).ok) return
  const { expiredAt, endedAt, graceUntil } = order
  const ends = graceUntil && expiredAt
  if (isComing(pending)) {
    // The platform's clock may be ahead of ours.
    const held = addHold(unit, order, pending, after(earlier(renewal.since, unit.now), HELD_FOR_PAYMENT))
    const grace = ends ? heldUntil({ ...order, ...held }, graceUntil, renewal.days, unit.now) : graceUntil
    return hold(unit, order, { ...held, graceUntil: grace ?? graceUntil })
  }
  if (!order.pendingUntil) return
  const left = releaseHold(unit, order, pending)
  const normal = ends && after(later(expiredAt, endedAt), renewal.graceHours * HOUR)
  const again = pending.untaken === 'expired' ? after(unit.now, RESERVATION_MINUTES * MINUTE) : unit.now
  const until = normal && !left.pendingUntil ? earlier(graceUntil, later(normal, again)) : graceUntil
  await hold(unit, order, { ...left, graceUntil: until })
}

type Holding = Pick<OrderRow, 'pendingUntil' | 'pendingFor'>

/** The payments that hold the order now. One whose time is over does not, even if the platform never said how it ended. */
const holding = ({ now }: Unit, { pendingFor }: OrderRow): [string, string][] =>
  Object.entries(pendingFor).filter(([, until]) => new Date(until) > now)

/** The order is held for this payment, too. A doubt about one shortens nothing. */
function addHold(unit: Unit, order: OrderRow, { platformOrderId }: Pending, until: Date) {
  const known = Object.fromEntries(holding(unit, order))[platformOrderId]
  const own = later(until, known === undefined ? null : new Date(known))
  const pendingFor = { ...order.pendingFor, [platformOrderId]: own.toISOString() }
  return { pendingUntil: later(own, order.pendingUntil), pendingFor } satisfies Holding
}

/**
 * This payment is not on its way any more. Others hold the order as long as each of them may. Its checkout stays named
 * until it is read once more.
 */
function releaseHold(unit: Unit, order: OrderRow, { platformOrderId }: Pending): Holding {
  const left = holding(unit, order).filter(([id]) => id !== platformOrderId)
  const known = order.pendingFor[platformOrderId]
  const over = known === undefined ? {} : { [platformOrderId]: earlier(new Date(known), unit.now).toISOString() }
  const pendingFor = { ...order.pendingFor, ...over }
  if (left.length === 0) return { ...NOT_PENDING, pendingFor }
  return { pendingUntil: new Date(Math.max(...left.map(([, until]) => Date.parse(until)))), pendingFor }
}

/** On orders that wait for no payment any more: their time is over, or they have ended or were paid. */
const isPast = (now: Date) =>
  and(
    isPending(orders),
    ne(orders.state, 'placed'),
    or(ne(orders.state, 'failed'), lte(orders.reservedUntil, now)),
    or(isNull(orders.pendingUntil), lte(orders.pendingUntil, now), inArray(orders.state, ['timed_out', 'cancelled']))
  )

/** Platform orders for which orders waited, and do not wait any more. Each may have taken a part of the money. */
export async function formerlyPending(db: Executor, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .select({ platformOrderId: sql<string>`jsonb_object_keys(${orders.pendingFor})` })
    .from(orders)
    .where(isPast(now))
    .limit(limit)
  return rows.map(({ platformOrderId }) => platformOrderId)
}

/** The platform's order was read after no order waited for it any more. */
export const forgetPending = ({ tx, now }: Unit, platformOrderId: string) =>
  tx
    .update(orders)
    .set({ pendingFor: sql`${orders.pendingFor} - ${platformOrderId}::text` })
    .where(and(isPast(now), sql`${orders.pendingFor} ? ${platformOrderId}`))

type Held = Partial<Pick<OrderRow, 'pendingUntil' | 'pendingFor' | 'reservedUntil' | 'graceUntil'>>

/** A reading is repeated for an hour, and changes nothing. */
async function hold(unit: Unit, order: OrderRow, held: Held): Promise<void> {
  const isSame = (Object.keys(held) as (keyof Held)[]).every(
    key => JSON.stringify(held[key] ?? null) === JSON.stringify(order[key] ?? null)
  )
  if (!isSame) await updateOrder(unit, order.id, held)
}
