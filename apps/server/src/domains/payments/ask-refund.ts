import { randomUUID } from 'node:crypto'
import { refuse } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { RefundInput, Shopify, ShopifyFailure } from '../../integrations/shopify/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { lockOrder, recordEvent } from '../orders/index.ts'
import { enqueueOrderRead } from './queues.ts'
import { selectPaymentToRefund, planOf, type PaymentToRefund } from './refund-plan.ts'
import {
  addRefund,
  blockingRefundOf,
  counted,
  hasNoResult,
  moveRefund,
  recordRead,
  refundIdOf,
  refundRowsOf,
  recentRequestOf,
  sumRefunds,
  type RefundRow
} from './refund-rows.ts'
import { refusedByApplication, refusedByRequest } from './refusals.ts'
import { paymentOf } from './rows.ts'
import { paymentRefunds } from './tables.ts'

export type RefundForm = {
  /** Undefined: all that is left. */
  amount?: string | undefined
  /** The plan that the administrator confirmed. If the plan has changed since, the request is refused as stale. */
  version: string
}
type RefundReply = { amount: string; platform_order: string; by_hand: string | null }

/**
 * Asks the platform to refund a payment, all that is left or a part. The effects here follow from the platform's own
 * report of the refund. If the platform refuses, its message is the refusal.
 */
export async function refundOnPlatform(
  ctx: AppContext,
  by: UserActor,
  meant: PaymentToRefund,
  form: RefundForm
): Promise<Result<RefundReply>> {
  const opened = await openPlatform(ctx)
  if (!opened.ok) return opened
  const platform = opened.data
  const failed = await settleEarlierRefunds(ctx, by, platform, meant)
  if (!failed.ok) return failed
  const asked = await command(ctx, by, unit => requestRefund(unit, ctx, { by, meant, form, failed: failed.data }))
  if (!asked.ok && asked.reason === 'refund_unanswered' && (await endUnmade(ctx, by, platform, meant)))
    return refundOnPlatform(ctx, by, meant, form)
  if (!asked.ok) return asked
  const { row, amount, platform_order, isRepeated } = asked.data
  const input = await inputOf(ctx, by, platform, asked.data)
  if (!input.ok) return input
  // The platform executes requests with the same key once, so a repeat is safe if the answer was lost.
  const made = await platform.refund(input.data, row.key.replace('asked:', 'netlet-'))
  if (!made.ok && made.reason === 'key_failed') {
    await command(ctx, by, unit => recordRefused(unit, row))
    return isRepeated ? refundOnPlatform(ctx, by, meant, form) : platformRefusal(made)
  }
  if (!made.ok && FAILED_BEFORE_REFUND.has(made.reason)) {
    await command(ctx, by, unit => recordFailure(unit, asked.data))
    return platformRefusal(made)
  }
  const refundId = made.ok ? made.value : null
  await command(ctx, by, async unit => {
    await (refundId ? recordAnswer(unit, row, refundId) : recordLostAnswer(unit, row))
    // The failed ones end only now: while they are open, reading the order notifies administrators that they failed.
    if (refundId && !isRepeated) for (const one of failed.data) await recordRefused(unit, one)
  })
  // The platform answers a repeat as it answered the first request. That refund may have failed since.
  if (isRepeated && refundId) {
    const read = await platform.readRefund(refundId)
    if (read.ok && read.value.outcome === 'failed') return refundOnPlatform(ctx, by, meant, form)
  }
  if (made.ok) return ok({ amount, platform_order, by_hand: input.data.byHand ?? null })
  // The refund may have been made. The request stays under way until the platform reports it or its time is over.
  return refuse('refund_unknown', { params: { message: made.message } })
}

/** Failures after which the platform has certainly refunded nothing. */
const FAILED_BEFORE_REFUND: ReadonlySet<ShopifyFailure['reason']> = new Set([
  'not_configured',
  'unauthorized',
  'throttled',
  'inactive',
  'rejected',
  'not_found'
])

/** The input to send: made from the order's payments the first time, and the same in every repeat. */
async function inputOf(ctx: AppContext, by: UserActor, platform: Shopify, requested: RefundRequest) {
  const { row, amount } = requested
  if (row.input) return ok(row.input)
  const read = await platform.refundInput(row.platformOrderId, { amount, note: `Refund by ${by.username}` })
  if (read.ok) return command(ctx, by, unit => keepInput(unit, row, read.value))
  await command(ctx, by, unit => recordFailure(unit, requested))
  return platformRefusal(read)
}

/**
 * Asks the platform about earlier refunds that it has begun but not reported as made. If one is pending, made or
 * unknown, another request is refused.
 * @returns their rows if all have failed
 */
async function settleEarlierRefunds(ctx: AppContext, by: UserActor, platform: Shopify, meant: PaymentToRefund) {
  const payment = await selectPaymentToRefund(ctx.db, meant)
  if (!payment) return ok([])
  const begun = (await refundRowsOf(ctx.db, payment.platformOrderId)).filter(({ state }) => state === 'answered')
  for (const row of begun) {
    const read = await platform.readRefund(refundIdOf(row) ?? '')
    if (read.ok && read.value.outcome === 'failed') continue
    if (recentRequestOf([row], ctx.now())) return ok([])
    if (!read.ok) return platformRefusal(read)
    const params = { by: row.askedBy ?? '–', platform_order: payment.platformOrderNumber }
    if (read.value.outcome !== 'made') return refuse('refund_pending', { params })
    await command(ctx, by, async unit => {
      await recordRead(unit, row, true)
      enqueueOrderRead(unit, payment.platformOrderId)
    })
    return refuse('refund_uncounted', { params })
  }
  return ok(begun)
}

/** The platform lists at most this many refunds of an order. */
const MOST_LISTED = 20

/**
 * Ends the request without an answer if the platform did not make it: it lists only refunds of the order that are known.
 * @returns false if it may have been made
 */
async function endUnmade(ctx: AppContext, by: UserActor, platform: Shopify, meant: PaymentToRefund): Promise<boolean> {
  const platformOrderId = (await selectPaymentToRefund(ctx.db, meant))?.platformOrderId
  const read = platformOrderId && (await platform.order(platformOrderId))
  if (!read || !read.ok) return false
  const { refunds } = read.value
  return command(ctx, by, async unit => {
    await lock(unit.tx, 'platformOrder', platformOrderId)
    const rows = await refundRowsOf(unit.tx, platformOrderId)
    const isKnown = refunds.every(({ id }) => rows.some(row => refundIdOf(row) === id))
    // It may have been repeated meanwhile.
    if (!isKnown || refunds.length >= MOST_LISTED || blockingRefundOf(rows, unit.now)) return false
    for (const row of rows) if (hasNoResult(row) && row.state !== 'answered') await moveRefund(unit, row, 'refuse')
    return true
  })
}

type RefundRequest = { row: RefundRow; amount: string; platform_order: string; isRepeated: boolean }

/** @param failed see `settleEarlierRefunds`. They block nothing. */
async function requestRefund(
  unit: Unit,
  { secrets }: Pick<AppContext, 'secrets'>,
  { by, meant, form, failed }: { by: UserActor; meant: PaymentToRefund; form: RefundForm; failed: readonly RefundRow[] }
): Promise<Result<RefundRequest>> {
  const { tx, now } = unit
  const { username: askedBy } = by
  const known = await selectPaymentToRefund(tx, meant)
  if (!known) return refuse('order_without_payment')
  const { platformOrderId, orderId } = known
  // Other changes to the payment's money wait for this lock.
  await lock(tx, 'platformOrder', platformOrderId)
  const order = orderId === null ? null : ((await lockOrder(unit, orderId)) ?? null)
  const payment = await paymentOf(tx, platformOrderId)
  if (!payment || payment.refundedAt || payment.orderId !== orderId) return refuse('order_without_payment')
  const refunds = await refundRowsOf(tx, platformOrderId)
  const open = refunds.filter(({ id }) => !failed.some(one => one.id === id))
  const blocker = blockingRefundOf(open, now)
  if (blocker) return refusedByRequest(blocker, payment)
  const applied = await refusedByApplication(unit, payment, askedBy)
  if (applied) return applied
  // A delivery for this payment is already queued.
  if (order?.task === 'deliver' && (!payment.accepted || order.state === 'failed')) return refuse('order_busy')
  const planned = await planOf({ tx, now, secrets }, { order, payment, refunds, wanted: form.amount })
  if (!planned.ok) return planned
  const { amount, version, platform_order } = planned.data
  if (form.version !== version) return refuse('stale')
  const askedPart = !sumRefunds(counted([...refunds, { state: 'counted', amount }]), payment.charged).all
  const row = await addOrRepeatRequest(unit, refunds, { platformOrderId, amount, askedBy, askedPart })
  if (!row.ok) return row
  const detail = { platform_order, amount }
  if (order) await recordEvent(unit, order.id, 'refund_requested', detail)
  if ('eventId' in meant) unit.audit('platform_event.refund', meant.eventId, { after: detail })
  else unit.audit('order.refund', meant.orderId, { after: detail })
  return ok({ ...row.data, amount, platform_order })
}

type Wanted = { platformOrderId: string; amount: string; askedBy: string; askedPart: boolean }

/** How long the platform remembers an idempotency key after it was first sent. The reconciliation finds a refund within that time. */
const KEY_KEPT_MS = DAY

/** Adds a request, or repeats the unanswered one. Refuses another amount than the unanswered one. */
async function addOrRepeatRequest(
  unit: Unit,
  refunds: readonly RefundRow[],
  wanted: Wanted
): Promise<Result<Pick<RefundRequest, 'row' | 'isRepeated'>>> {
  const last = refunds.findLast(row => hasNoResult(row) && row.state !== 'answered')
  // One that was never sent was not made: its process ended before.
  const isOver = last && (!last.sentAt || last.sentAt.getTime() <= unit.now.getTime() - KEY_KEPT_MS)
  if (isOver) await moveRefund(unit, last, 'refuse')
  const open = isOver ? undefined : last
  if (open && open.amount !== wanted.amount)
    return refuse('refund_unanswered', { params: { by: open.askedBy ?? '–', amount: open.amount ?? '–' } })
  if (open) {
    await moveRefund(unit, open, 'repeat', { ...wanted, createdAt: unit.now })
    return ok({ row: { ...open, state: 'asked' }, isRepeated: true })
  }
  const row = await addRefund(unit, { ...wanted, key: `asked:${randomUUID()}`, state: 'asked' })
  if (!row) throw new Error('a request for a refund was not written')
  return ok({ row, isRepeated: false })
}

/** The current row, under the lock of its platform order; undefined once the platform reported it or it ended. */
async function openRow(unit: Unit, { id, platformOrderId }: RefundRow): Promise<RefundRow | undefined> {
  await lock(unit.tx, 'platformOrder', platformOrderId)
  return (await refundRowsOf(unit.tx, platformOrderId)).find(row => row.id === id && hasNoResult(row))
}

/** Stores the input before it is sent. Refuses if the request has ended. */
async function keepInput(unit: Unit, asked: RefundRow, input: RefundInput): Promise<Result<RefundInput>> {
  const row = await openRow(unit, asked)
  if (row?.state !== 'asked') return refuse('stale')
  if (row.input) return ok(row.input)
  const [kept] = await unit.tx
    .update(paymentRefunds)
    .set({ input, sentAt: row.sentAt ?? unit.now })
    .where(eq(paymentRefunds.id, row.id))
    .returning({ input: paymentRefunds.input })
  if (!kept?.input) throw new Error('the input of a refund was not kept')
  return ok(kept.input)
}

/** The platform was not asked, or refused. A repeat stays open, because the first request may have succeeded. */
const recordFailure = (unit: Unit, { row, isRepeated }: RefundRequest): Promise<void> =>
  isRepeated ? recordLostAnswer(unit, row) : recordRefused(unit, row)

/** The answer was lost, or names no refund. */
async function recordLostAnswer(unit: Unit, asked: RefundRow): Promise<void> {
  const row = await openRow(unit, asked)
  if (row?.state === 'asked') await moveRefund(unit, row, 'lose_answer')
}

/** Stores the refund id that the platform's report will carry. If that report came first, it replaces the request. */
async function recordAnswer(unit: Unit, asked: RefundRow, refundId: string): Promise<void> {
  const row = await openRow(unit, asked)
  if (!row || row.state === 'answered') return
  const key = `refund:${refundId}`
  const isReported = (await unit.tx.$count(paymentRefunds, eq(paymentRefunds.key, key))) > 0
  if (isReported) await moveRefund(unit, row, 'refuse')
  else await moveRefund(unit, row, 'answer', { key, awaitsRead: true })
}

/** The platform made no refund, or the refund failed there. */
async function recordRefused(unit: Unit, asked: RefundRow): Promise<void> {
  const row = await openRow(unit, asked)
  if (row) await moveRefund(unit, row, 'refuse')
}
