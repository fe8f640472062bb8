import { type DecisionPlan, type InboxEntry, type PaymentDecision, refuse, type Resolution } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { z } from 'zod'
import type { UserActor } from '../../infra/actor.ts'
import { DAY, isoOrNull } from '../../infra/clock.ts'
import { command, dryRun, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf } from '../../infra/version.ts'
import { PaidOrder } from '../../integrations/shopify/index.ts'
import { type EventRow, lockEventById, resolveEvent } from '../commerce/index.ts'
import { lockOrder, recordEvent, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import {
  applyToNamedOrder,
  convertRefunds,
  counted,
  hasNoResult,
  isPaidRenewal,
  markIgnored,
  moveRefund,
  paymentAllows,
  paymentOf,
  type PaymentRow,
  paymentStateOf,
  rateOf,
  recordPayment,
  recordRefund,
  refundIdOf,
  refundRowsOf,
  refusedByRefund,
  rowsOf,
  tagOutcome,
  totalOf
} from '../payments/index.ts'
import { payments } from '../payments/tables.ts'
import { readSettings } from '../settings/index.ts'
import { findEntry } from './inbox.ts'
import { storeLinesMore } from './settle-paid-order.ts'

/** Versions of the event and the plan that the administrator saw, and the order or the reason. */
type Form = {
  version?: string | undefined
  plan?: string | undefined
  order?: string | undefined
  note?: string | undefined
}
/** A locked event that is still open, its payment, and the platform's report of it. */
type OpenEvent = {
  event: EventRow
  entry: InboxEntry
  paid: PaidOrder | null
  payment: PaymentRow | null
  isNew: boolean
}

type Decided = { ctx: AppContext; open: OpenEvent; form: Form }

/** The writes of each decision. `act` compares the order before and after to see what they did. */
const DECISIONS: Record<PaymentDecision, (unit: Unit, decided: Decided) => Promise<Result<Ending>>> = {
  /**
   * Settles a payment on the order that the administrator names. The administrator overrides its lines, currency and
   * test flag. Refuses money that was refunded or that already counts.
   */
  async apply(unit, { ctx, open, form: { order: publicId = '' } }) {
    const applied = await applyToNamedOrder(unit, ctx, open, publicId)
    if (!applied.ok) return applied
    if (open.paid) await storeLinesMore(unit, open.paid)
    return ok({ resolution: 'applied', note: null, orderPublicId: applied.data.publicId })
  },
  /** Records that a payment was refunded outside the platform. */
  async refunded(unit, { ctx, open, form: { note: why = '' } }) {
    const { payment, event } = open
    const tagText = `Refunded: ${why}`
    if (!payment && event.platformOrderId) {
      // The payment may come later. It then starts as refunded and delivers nothing.
      const { id, platformOrderId } = event
      await recordRefund(unit, ctx, { platformOrderId, key: `operator:${id}`, amount: null, reason: 'refund' })
      tagOutcome(unit, platformOrderId, 'payment_refunded', tagText)
    }
    if (payment && !(await mayBeRefunded(unit, payment, event)))
      return refuse('payment_settled', { params: { order: open.entry.order ?? '' } })
    // Before any order lock and in a fixed sequence, so that two decisions do not deadlock.
    for (const platformOrder of (await paymentsToMark(unit, open)).map(one => one.platformOrderId).toSorted())
      await lock(unit.tx, 'platformOrder', platformOrder)
    // Read again under the locks: the platform may be refunding one of them.
    const back = await paymentsToMark(unit, open)
    for (const one of back) {
      const running = await refusedByRefund(unit.tx, one, unit.now)
      if (running) return running
    }
    const recorded = new Map<string, bigint>()
    for (const { id: paymentId, platformOrderId, charged, currency } of back) {
      const given = async () => totalOf(counted(await refundRowsOf(unit.tx, platformOrderId)), charged)
      const before = await given()
      const key = (await endMarkedRefund(unit, platformOrderId, event)) ?? `operator:${event.id}:${paymentId}`
      await recordRefund(unit, ctx, { platformOrderId, key, amount: failedPart(event), reason: 'refund' })
      recorded.set(currency, (recorded.get(currency) ?? 0n) + (await given()) - before)
      tagOutcome(unit, platformOrderId, 'payment_refunded', tagText)
    }
    return ok({
      resolution: 'refunded',
      note: why,
      money: [...recorded].map(([currency, cents]) => ({ amount: fromCents(cents), currency }))
    })
  },
  /** Closes an event, and settles and refunds nothing. */
  async ignore(unit, { open: { payment }, form: { note: why = '' } }) {
    if (payment && paymentAllows(payment, 'ignore')) {
      await markIgnored(unit, payment)
      tagOutcome(unit, payment.platformOrderId, 'payment_ignored', `Ignored: ${why}`)
    }
    const order = payment?.orderId ? await lockOrder(unit, payment.orderId) : undefined
    if (order) await recordIgnored(unit, order, payment, why)
    return ok({ resolution: 'ignored', note: why })
  }
}

type Decision = (ctx: AppContext, by: UserActor, id: number, form: Form) => Promise<Result<null>>
export const applyPayment: Decision = (ctx, by, id, form) => decide(ctx, by, id, { action: 'apply', form })
export const markRefunded: Decision = (ctx, by, id, form) => decide(ctx, by, id, { action: 'refunded', form })
export const ignorePayment: Decision = (ctx, by, id, form) => decide(ctx, by, id, { action: 'ignore', form })

/** Applies a decision to an open event and closes the event. Refuses if the plan has changed since it was shown. */
const decide = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  { action, form }: { action: PaymentDecision; form: Form }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const acted = await runDecision(unit, ctx, id, { action, form })
    if (!acted.ok) return acted
    const { open, ending, plan } = acted.data
    if (form.plan !== undefined && form.plan !== plan.version) return refuse('stale')
    await finish(unit, open, ending)
    return done
  })

/** What a decision would do now: applies it and rolls back. */
export const planDecision = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  { action, order }: { action: PaymentDecision; order?: string | undefined }
): Promise<Result<DecisionPlan>> =>
  dryRun(ctx, by, {}, async unit => {
    const acted = await runDecision(unit, ctx, id, { action, form: { order } })
    return acted.ok ? ok(acted.data.plan) : acted
  })

async function runDecision(
  unit: Unit,
  ctx: AppContext,
  id: number,
  { action, form }: { action: PaymentDecision; form: Form }
): Promise<Result<{ open: OpenEvent; ending: Ending; plan: DecisionPlan }>> {
  const taken = await lockOpenEvent(unit, ctx, id, form.version)
  if (!taken.ok) return taken
  const open = taken.data
  const about = action === 'apply' ? { publicId: form.order ?? '' } : { id: open.payment?.orderId ?? null }
  const before = await readOrder(unit.tx, about)
  const ended = await DECISIONS[action](unit, { ctx, open, form })
  if (!ended.ok) return ended
  const after = await readOrder(unit.tx, about)
  const { charged: amount, currency } = open.payment ?? {}
  const money = ended.data.money ?? (amount !== undefined && currency !== undefined ? [{ amount, currency }] : [])
  return ok({ open, ending: ended.data, plan: planOfDecision(money, before, after) })
}

/** Outcomes of accepted payments that may be refunded outside the platform. */
const BACK_UNHEARD: ReadonlySet<string> = new Set([
  'too_late',
  'renewals_unserved',
  'cancelled',
  'cancelled_delivered',
  'inquiry'
])

/** What a failed or stuck refund did not return, in the payment's currency; null for another event. */
const failedPart = ({ outcome, detail }: EventRow): string | null =>
  outcome === 'refund_failed' || outcome === 'refund_stuck' ? String(detail?.['amount']) : null

/**
 * Ends the platform's refund that an event is about, because the operator's row now counts in its place.
 * @returns the key of that row, which names the refund; undefined if the event is about none
 */
async function endMarkedRefund(unit: Unit, platformOrderId: string, event: EventRow): Promise<string | undefined> {
  const reported = failedPart(event) === null ? undefined : RefundKey.safeParse(event.payload).data
  const refundId = reported && refundIdOf(reported)
  if (!refundId) return undefined
  for (const row of rowsOf(await refundRowsOf(unit.tx, platformOrderId), reported.key))
    if (hasNoResult(row)) await moveRefund(unit, row, 'refuse', { awaitsRead: false })
  return `refund:${refundId}:operator:${event.id}`
}

const RefundKey = z.object({ key: z.string() })

/** May a payment have been refunded outside the platform? For other outcomes the platform reports refunds. */
async function mayBeRefunded({ tx }: Unit, payment: PaymentRow, event: EventRow): Promise<boolean> {
  const { outcome, processedAt } = event
  const part = failedPart(event)
  if (part === null) return paymentStateOf(payment) !== 'accepted' || (outcome !== null && BACK_UNHEARD.has(outcome))
  // The shop still has what the refund failed to return, and the platform has refunded nothing since.
  const rows = counted(await refundRowsOf(tx, payment.platformOrderId))
  const isLater = rows.some(row => !row.key.includes('operator:') && processedAt && row.createdAt >= processedAt)
  return !isLater && toCents(part) > 0n && totalOf(rows, payment.charged) + toCents(part) <= toCents(payment.charged)
}

/** The payments that 'mark refunded' covers: the event's own, or the renewals that its refund left unserved. */
async function paymentsToMark(unit: Unit, { event, payment }: OpenEvent): Promise<PaymentRow[]> {
  if (!payment) return []
  if (event.outcome !== 'renewals_unserved' || payment.kind === 'renewal')
    return paymentAllows(payment, 'refund') ? [payment] : []
  return unit.tx
    .select()
    .from(payments)
    .where(and(eq(payments.orderId, payment.orderId ?? 0), isPaidRenewal))
    .orderBy(asc(payments.id))
}

async function recordIgnored(unit: Unit, order: OrderRow, payment: PaymentRow | null, why: string): Promise<void> {
  await recordEvent(unit, order.id, 'payment_ignored', {
    platform_order: payment?.platformOrderNumber ?? '',
    reason: why
  })
  unit.publish('order', order.id, order.userId)
}

/** Locks an event and its payment. Refuses an event that is already resolved, or a form that is out of date. */
async function lockOpenEvent(
  unit: Unit,
  ctx: Pick<AppContext, 'secrets'>,
  id: number,
  version: string | undefined
): Promise<Result<OpenEvent>> {
  const { tx } = unit
  const event = await lockEventById(unit, id)
  if (!event) return refuse('not_found')
  const read = event.topic === 'orders/paid' ? PaidOrder.safeParse(event.payload) : undefined
  const paid = read?.success ? read.data : null
  const platformOrderId = event.platformOrderId ?? paid?.id
  if (platformOrderId) await lock(tx, 'platformOrder', platformOrderId)
  const entry = await findEntry(tx, id)
  if (!entry) return refuse('not_found')
  if (!entry.unresolved) return refuse('payment_resolved', { params: { resolution: entry.resolution ?? 'settled' } })
  const stale = staleEdit(version, entry, { now: {}, sent: {} })
  if (stale) return stale
  const known = platformOrderId ? await paymentOf(tx, platformOrderId) : undefined
  const running = known && (await refusedByRefund(tx, known, unit.now))
  if (running) return running
  if (known || !paid) return ok({ event, entry, paid, payment: known ?? null, isNew: false })
  // A report that could not be handled, or an old one that names no order, has no payment row yet.
  const money = await readSettings(tx, ctx.secrets)
  const refunds = await convertRefunds(unit, paid.id, rateOf(paid))
  const payment = await recordPayment(unit, { paid, kind: 'purchase', payment: null, about: null, money, refunds })
  return ok({ event, entry, paid, payment, isNew: true })
}

/** `money`: what counts as refunded now and did not before; undefined: the decision is about the whole payment. */
type Ending = { resolution: Resolution; note: string | null; orderPublicId?: string; money?: DecisionPlan['money'] }

async function finish(
  unit: Unit,
  { event, entry }: OpenEvent,
  { resolution, note: why, orderPublicId }: Ending
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

/** The order that a decision is about, as this transaction reads it. */
async function readOrder(
  db: Executor,
  about: { id: number | null } | { publicId: string }
): Promise<OrderRow | undefined> {
  const [order] = await db
    .select()
    .from(orders)
    .where('publicId' in about ? eq(orders.publicId, about.publicId) : eq(orders.id, about.id ?? 0))
  return order
}

/** What a decision did to its order, from the order's row before and after. */
function planOfDecision(
  money: DecisionPlan['money'],
  before: OrderRow | undefined,
  after: OrderRow | undefined
): DecisionPlan {
  const effect = before && after ? effectOf(before, after) : NOTHING
  return {
    // `until` is not part of the version: the end of a delivery that starts now moves with the clock.
    version: versionOf({ order: after?.publicId ?? null, money, ...effect }),
    money,
    order: after?.publicId ?? null,
    ...effect,
    until: effect.does === 'nothing' ? null : isoOrNull(after?.expiredAt ?? null)
  }
}

type Effect = Pick<DecisionPlan, 'does' | 'proxies' | 'days'>
const NOTHING: Effect = { does: 'nothing', proxies: 0, days: 0 }
/** States in which an order serves no proxies: it has not started, or it is over. */
const AT_REST = new Set<OrderRow['state']>(['placed', 'timed_out', 'cancelled', 'expired', 'failed', 'refunded'])

function effectOf(before: OrderRow, after: OrderRow): Effect {
  const worked = !AT_REST.has(before.state)
  const works = !AT_REST.has(after.state)
  if (works !== worked ? worked : after.state === 'refunded' && before.state !== 'refunded')
    return { does: 'ends', proxies: worked ? before.deliveryNum : 0, days: 0 }
  if (!worked && works)
    return before.state === 'expired'
      ? { does: 'revives', proxies: after.quantity, days: after.proxyTime }
      : { does: 'delivers', proxies: after.quantity, days: after.proxyTime + (after.expiredAt ? 0 : after.extraDays) }
  const days = termOf(after) - termOf(before)
  if (!works || days === 0) return NOTHING
  return { does: days > 0 ? 'renews' : 'shortens', proxies: 0, days: Math.abs(days) }
}

/** The end of a term in days, for differences only. An undelivered order has no end yet, only its extra days. */
const termOf = ({ expiredAt, extraDays }: OrderRow): number =>
  expiredAt ? Math.round(expiredAt.getTime() / DAY) : extraDays
