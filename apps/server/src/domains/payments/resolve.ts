import { refuse, type Refusal, type Resolution } from '@netlet/contract'
import { and, asc, eq } from 'drizzle-orm'
import { PaidOrder } from '../../integrations/shopify/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { done, type Result } from '../../infra/result.ts'
import { staleEdit } from '../../infra/version.ts'
import { lockEventById, resolveEvent } from '../commerce/index.ts'
import { lockOrder, note, type OrderRow } from '../orders/index.ts'
import { readSettings } from '../settings/index.ts'
import { applyTo, type OpenEvent } from './apply.ts'
import { findEntry } from './inbox.ts'
import { refusedByRefund } from './refund-underway.ts'
import { giveBack, isPaidRenewal } from './refunds.ts'
import { addPayment, paymentOf, type PaymentRow } from './rows.ts'
import { paymentAllows, paymentStateOf } from './states.ts'
import { payments } from './tables.ts'
import { tagEnded } from './tell.ts'

type Form = { version?: string | undefined }

/**
 * Settles a payment of the inbox on an order, as if it had named it. The administrator's word counts for the lines, the
 * currency and a test; money that was given back, or that counts already, is refused.
 */
export const applyPayment = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  { version, order: publicId }: Form & { order: string }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const open = await takeOpen(unit, ctx, id, version)
    if ('ok' in open) return open
    const applied = await applyTo(unit, ctx, open, publicId)
    if (!applied.ok) return applied
    await finish(unit, open, { resolution: 'applied', note: null, orderPublicId: applied.data.publicId })
    return done
  })

/** Notes that the money of a payment that settled nothing was given back by other means. */
export const markRefunded = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  { version, note: why }: Form & { note: string }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const open = await takeOpen(unit, ctx, id, version)
    if ('ok' in open) return open
    const { payment, event } = open
    if (payment && paymentStateOf(payment) === 'accepted' && event.outcome !== 'too_late')
      return refuse('payment_settled', { params: { order: open.entry.order ?? '' } })
    const back = await refundedBy(unit, open)
    // Before any order is locked, and in one sequence.
    for (const platformOrder of back.map(one => one.platformOrderId).toSorted())
      await lock(unit.tx, 'platformOrder', platformOrder)
    for (const { id: paymentId, platformOrderId } of back) {
      const key = `operator:${id}:${paymentId}`
      await giveBack(unit, ctx, { platformOrderId, key, amount: null, reason: 'refund' })
      tagEnded(unit, platformOrderId, 'payment_refunded', `Refunded: ${why}`)
    }
    await finish(unit, open, { resolution: 'refunded', note: why })
    return done
  })

/** The payments whose money 'mark refunded' means: that of the event, or the renewals that its refund left unserved. */
async function refundedBy(unit: Unit, { event, payment }: OpenEvent): Promise<PaymentRow[]> {
  if (!payment) return []
  if (event.outcome !== 'renewals_unserved') return paymentAllows(payment, 'refund') ? [payment] : []
  return unit.tx
    .select()
    .from(payments)
    .where(and(eq(payments.orderId, payment.orderId ?? 0), isPaidRenewal))
    .orderBy(asc(payments.id))
}

/** Closes an event of the inbox without doing anything. */
export const ignorePayment = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  { version, note: why }: Form & { note: string }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const open = await takeOpen(unit, ctx, id, version)
    if ('ok' in open) return open
    const { payment } = open
    if (payment && paymentAllows(payment, 'ignore')) {
      await unit.tx.update(payments).set({ ignoredAt: unit.now }).where(eq(payments.id, payment.id))
      tagEnded(unit, payment.platformOrderId, 'payment_ignored', `Ignored: ${why}`)
    }
    const order = payment?.orderId ? await lockOrder(unit, payment.orderId) : undefined
    if (order) await noteIgnored(unit, order, payment, why)
    await finish(unit, open, { resolution: 'ignored', note: why })
    return done
  })

async function noteIgnored(unit: Unit, order: OrderRow, payment: PaymentRow | null, why: string): Promise<void> {
  await note(unit, order.id, 'payment_ignored', { platform_order: payment?.platformOrderNumber ?? '', reason: why })
  unit.publish('order', order.id, order.userId)
}

/** Locks an event and its payment. Refuses what somebody has dealt with already, or a form that was opened before that. */
async function takeOpen(
  unit: Unit,
  ctx: Pick<AppContext, 'secrets'>,
  id: number,
  version: string | undefined
): Promise<OpenEvent | Refusal> {
  const { tx } = unit
  const event = await lockEventById(unit, id)
  if (!event) return refuse('not_found')
  const read = event.topic === 'orders/paid' ? PaidOrder.safeParse(event.payload) : undefined
  const paid = read?.success ? read.data : null
  const platformOrderId = event.platformOrderId ?? paid?.id
  if (platformOrderId) await lock(tx, 'platformOrder', platformOrderId)
  const entry = await findEntry(tx, id)
  if (!entry) return refuse('not_found')
  if (!entry.needs_hand) return refuse('payment_resolved', { params: { resolution: entry.resolution ?? 'settled' } })
  const stale = staleEdit(version, entry, { now: {}, sent: {} })
  if (stale) return stale
  const known = platformOrderId ? await paymentOf(tx, platformOrderId) : undefined
  const running = known && refusedByRefund(known, unit.now)
  if (running) return running
  if (known || !paid) return { event, entry, paid, payment: known ?? null }
  // An event from before payments without an order were kept.
  const settings = await readSettings(tx, ctx.secrets)
  const payment = await addPayment(unit, paid, { orderId: null, kind: 'purchase', settings, refunds: [] })
  return { event, entry, paid, payment }
}

async function finish(
  unit: Unit,
  { event, entry }: OpenEvent,
  { resolution, note: why, orderPublicId }: { resolution: Resolution; note: string | null; orderPublicId?: string }
): Promise<void> {
  const { by } = unit
  await resolveEvent(unit, event.id, {
    resolution,
    note: why,
    by: by.kind === 'user' ? by.username : by.kind,
    ...(orderPublicId === undefined ? {} : { orderPublicId })
  })
  unit.audit(`platform_event.${ACTIONS[resolution]}`, event.id, {
    before: { outcome: entry.outcome, platform_order: entry.platform_order, order: entry.order },
    after: { resolution, note: why, order: orderPublicId ?? entry.order }
  })
}

const ACTIONS = { applied: 'apply', refunded: 'mark_refunded', ignored: 'ignore' } as const
