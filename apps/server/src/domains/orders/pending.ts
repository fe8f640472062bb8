/** Holds the addresses of an order, or of an order in its grace, for a payment that is on its way. */
import { RESERVATION_MINUTES } from '@netlet/contract'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { hasPaid } from './place-order.ts'
import { heldUntil, isUnsettled, PENDING_GRACE, renewable } from './renew.ts'
import { updateOrder, type OrderRow } from './transition.ts'

/**
 * What the platform says of a payment that it has not taken. `unproven`: by a method without any proof, such as a bank
 * deposit. `expired`: the platform asks the buyer to pay again.
 */
export type Untaken = 'coming' | 'unproven' | 'expired' | 'gone'

/** The platform gives most payments that are pending or authorised a week. */
const HELD_FOR_PAYMENT = PENDING_GRACE
/** For an account that has never paid, and names no proof that it will. */
const HELD_WITHOUT_PROOF = DAY

const later = (one: Date, other: Date): Date => (one > other ? one : other)
const earlier = (one: Date, other: Date): Date => (one < other ? one : other)
const after = (from: Date, milliseconds: number): Date => new Date(from.getTime() + milliseconds)

/**
 * Holds the addresses of a locked order that has not been paid, or lets go of them. The same for one that failed with
 * another payment, while it still has them: the right payment delivers it, and a cent must not hold them for longer.
 */
export async function holdForPayment(unit: Unit, order: OrderRow, untaken: Untaken): Promise<void> {
  const { createdAt, pendingUntil } = order
  const hasFailed = order.state === 'failed' && isUnsettled(order) && order.reservedUntil > unit.now
  if (order.state !== 'placed' && !hasFailed) return
  const normal = after(createdAt, RESERVATION_MINUTES * MINUTE)
  if (untaken === 'coming' || untaken === 'unproven') {
    const isBrief = untaken === 'unproven' && !(await hasPaid(unit.tx, order.userId))
    const until = after(createdAt, isBrief ? HELD_WITHOUT_PROOF : HELD_FOR_PAYMENT)
    await hold(unit, order, { pendingUntil: until, reservedUntil: until })
  } else if (pendingUntil) {
    const again = untaken === 'expired' ? after(unit.now, RESERVATION_MINUTES * MINUTE) : normal
    await hold(unit, order, { pendingUntil: null, reservedUntil: later(normal, earlier(again, pendingUntil)) })
  }
}

/**
 * Lets the grace of a locked order last while a renewal's payment is on its way, or end as any other if it is not.
 * @param renewal.since when the renewal was ordered
 * @param renewal.days the term that it buys
 */
export async function holdForRenewal(
  unit: Unit,
  order: OrderRow,
  untaken: Untaken,
  renewal: { since: Date; days: number; graceHours: number }
): Promise<void> {
  if (!renewable(order, unit.now).ok) return
  const { expiredAt, endedAt, graceUntil } = order
  const ends = graceUntil && expiredAt
  if (untaken === 'coming' || untaken === 'unproven') {
    // The platform's clock may be ahead of ours.
    const pendingUntil = after(earlier(renewal.since, unit.now), HELD_FOR_PAYMENT)
    const held = ends ? heldUntil({ ...order, pendingUntil }, graceUntil, renewal.days, unit.now) : graceUntil
    await hold(unit, order, { pendingUntil, graceUntil: held ?? graceUntil })
  } else if (order.pendingUntil) {
    const normal = ends && after(later(expiredAt, endedAt ?? expiredAt), renewal.graceHours * HOUR)
    const again = untaken === 'expired' ? after(unit.now, RESERVATION_MINUTES * MINUTE) : unit.now
    await hold(unit, order, {
      pendingUntil: null,
      graceUntil: normal ? earlier(graceUntil, later(normal, again)) : graceUntil
    })
  }
}

type Held = Partial<Pick<OrderRow, 'pendingUntil' | 'reservedUntil' | 'graceUntil'>>

/** A reading is repeated for an hour, and changes nothing. */
async function hold(unit: Unit, order: OrderRow, held: Held): Promise<void> {
  const isSame = (Object.keys(held) as (keyof Held)[]).every(
    key => (held[key] ?? null)?.getTime() === order[key]?.getTime()
  )
  if (!isSame) await updateOrder(unit, order.id, held)
}
