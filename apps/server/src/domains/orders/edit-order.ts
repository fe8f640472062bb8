import { type Order, type OrderLabel, type Refusal, refuse } from '@netlet/contract'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { Actor, UserActor } from '../../infra/actor.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { announce, isAnnounced, type Note, noteDetail } from './announce.ts'
import { findOrder } from './list.ts'
import { creditTime } from './move-commands.ts'
import { isTimed } from './states.ts'
import { type OrderRow, lockOrder, recordEvent, updateOrder } from './transition.ts'

/**
 * Saves the customer's own label and note of an order. Only the customer writes them, so the last edit wins. A repeat
 * changes nothing.
 */
export async function editLabel(
  ctx: AppContext,
  caller: UserActor,
  id: number,
  { label, note }: OrderLabel
): Promise<Result<Order>> {
  // Operators may read the label and the note, but only the customer writes them.
  if (caller.impersonator) return refuse('while_impersonating')
  const edited = await command(ctx, caller, async unit => {
    const order = await lockOrder(unit, id)
    if (!order || order.deletedAt || order.userId !== caller.id) return refuse('not_found')
    const now = { label: label === undefined ? order.label : label, note: note === undefined ? order.note : note }
    if (now.label !== order.label || now.note !== order.note) await updateOrder(unit, id, now)
    return done
  })
  return edited.ok ? findOrder(ctx.db, id, caller.id, ctx.now()) : edited
}

type Expiry = { expired_at: number; ends_at?: string | undefined } & Note

/**
 * Sets the end of a delivered order: earlier or later than now planned, but not in the past. It refuses as stale if the
 * end is no longer `ends_at`, so that it does not take back a renewal that was just paid. The customer is mailed.
 */
export async function setExpiry(ctx: AppContext, actor: Actor, id: number, form: Expiry): Promise<Result<Order>> {
  const expiredAt = new Date(form.expired_at)
  const moved = await command(ctx, actor, async unit => {
    const running = await lockRunning(unit, id, form.ends_at)
    if (!running.ok) return running
    const order = running.data
    if (expiredAt.getTime() === order.expiredAt.getTime()) return done
    if (expiredAt <= unit.now) return fieldRefusal('expired_at', 'expiry_in_past')
    // The customer is reminded again of the new date.
    await updateOrder(unit, id, { expiredAt, reminderSentAt: null, lastReminderSentAt: null })
    const before = { expired_at: isoOrNull(order.expiredAt) }
    const after = { expired_at: iso(expiredAt) }
    await recordEvent(unit, id, 'expiry_set', {
      from: before.expired_at,
      to: after.expired_at,
      by: actor.kind === 'user' ? actor.username : actor.kind,
      ...noteDetail(form)
    })
    unit.audit('order.extend', id, { before, after: { ...after, ...noteDetail(form) } })
    await announceEnd(unit, order, expiredAt, form)
    return done
  })
  return moved.ok ? findOrder(ctx.db, id, null, ctx.now()) : moved
}

/** @param order as it was before */
async function announceEnd(
  unit: Unit,
  order: OrderRow & { expiredAt: Date },
  expiredAt: Date,
  note: Note
): Promise<void> {
  if (!isAnnounced(unit, order, note)) return
  const data = {
    change: expiredAt > order.expiredAt ? ('later' as const) : ('earlier' as const),
    expires_at: iso(expiredAt),
    expired_at: iso(order.expiredAt)
  }
  const key = `changed:${order.id}:${iso(unit.now)}:end`
  await announce(unit, order.id, { template: 'order-changed', data, key }, note)
}

/** Locks an order whose time runs. @param shown the end that the form showed: it must still be the order's */
async function lockRunning(
  unit: Unit,
  id: number,
  shown: string | undefined
): Promise<Result<OrderRow & { expiredAt: Date }>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if (!order.paidAt) return refuse('order_not_paid')
  if (order.state === 'expired') return refuse('order_over')
  const { expiredAt } = order
  if (!isTimed(order.state) || !expiredAt) return refuse('order_not_delivered')
  const stale = await refuseStaleExpiry(unit, order, shown)
  return stale ?? ok({ ...order, expiredAt })
}

/** @param shown the end that the form showed; if it has changed, the refusal has the order's current state */
async function refuseStaleExpiry(
  { tx, now }: Unit,
  { id, expiredAt }: { id: number; expiredAt: Date | null },
  shown: string | undefined
): Promise<Refusal | undefined> {
  if (shown === undefined || expiredAt?.getTime() === Date.parse(shown)) return undefined
  const current = await findOrder(tx, id, null, now)
  return current.ok ? refuse('stale', { data: { current: current.data, changed: ['expired_at'] } }) : current
}

type Credit = { days: number; note: string; ends_at: string } & Note

/** Gives a delivered order more days. Its end must be the one that the form showed, so a repeat adds them once. */
export async function creditDays(ctx: AppContext, actor: Actor, id: number, credit: Credit): Promise<Result<Order>> {
  const credited = await command(ctx, actor, async unit => {
    const running = await lockRunning(unit, id, credit.ends_at)
    if (!running.ok) return running
    const order = running.data
    const { days, note: reason } = credit
    const by = actor.kind === 'user' ? { by: actor.username } : {}
    const expiredAt = await creditTime(unit, order, {
      seconds: (days * DAY) / 1000,
      days,
      reason,
      ...by,
      ...noteDetail(credit)
    })
    unit.audit('order.credit', id, {
      before: { expired_at: iso(order.expiredAt) },
      after: { expired_at: iso(expiredAt), reason, ...noteDetail(credit) }
    })
    await announceEnd(unit, order, expiredAt, credit)
    return done
  })
  return credited.ok ? findOrder(ctx.db, id, null, ctx.now()) : credited
}
