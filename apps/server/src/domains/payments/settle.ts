import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { isTip, type PaidOrder, readOrderReference } from '../../integrations/shopify/index.ts'
import { isDeleted } from '../accounts/index.ts'
import { type EventResult, isCancelledThere, isIgnoredThere } from '../commerce/index.ts'
import {
  type OrderRow,
  addToPaid,
  termsAsPlaced,
  isPaidInTime,
  lockOrder,
  lockOrderByPublicId,
  ourVariants,
  paidAtOf,
  receiptDateOf,
  placeLostOrder,
  renewableBefore,
  restoreDeleted,
  currentTerms
} from '../orders/index.ts'
import { readRestored, readSettings } from '../settings/index.ts'
import { returnMoney } from './apply-return.ts'
import { type Settling, applyDecision, updateEarnings } from './apply.ts'
import { type Facts, type OrderFacts, judge } from './judge.ts'
import { isUnpaid, type Line, linesOf, withKnownCharge } from './paid-order.ts'
import { gatherBalance } from './refund-reports.ts'
import { convertRefunds, refundRowsOf } from './refund-rows.ts'
import { type PaymentRow, lastAmountOf, minus, paymentOf, rateOf, recordPayment } from './rows.ts'

/**
 * The platform's order was edited, and the customer paid the rest. It earns points and coins and can be refunded. If
 * the payment had been ignored, or all of it refunded, an administrator decides what the rest is for.
 */
async function grow(unit: Unit, ctx: Settling, facts: Facts, known: PaymentRow): Promise<EventResult> {
  const payment = await recordPayment(unit, { ...facts, kind: known.kind })
  const balance = await gatherBalance(unit, ctx, known.platformOrderId)
  if (!balance) throw new Error(`there is no payment ${known.id}`)
  const order = balance.order && (await restoreDeleted(unit, balance.order))
  const more = minus(payment.amount, known.amount)
  const isBack = known.refundedAt !== null
  if (order && (known.accepted || order.platformOrderId === known.platformOrderId)) {
    const lastAmount = (await lastAmountOf(unit.tx, order.id)) ?? payment.amount
    await addToPaid(unit, order, { more, lastAmount, ...(isBack ? { refunded: more } : {}) })
    if (!isBack && known.accepted) await updateEarnings(unit, ctx, order, payment)
  }
  if (isBack) {
    // The added money came back from a payment that was refunded whole.
    const refunded = { ...payment, refundedAmount: payment.amount, refundedAt: known.refundedAt }
    return returnMoney(unit, ctx, { ...balance, order, payment: refunded }, 'paid_more')
  }
  if (known.accepted) return { outcome: 'ignored' }
  const { platformOrderNumber: platform_order, charged } = payment
  const detail = { order_id: order?.publicId ?? 'unknown', platform_order, amount: minus(charged, known.charged) }
  return { outcome: 'paid_more', detail }
}

/**
 * Settles a reported payment, once even if it is reported again. Locks the platform's order, then ours, gathers the
 * facts, judges them and applies the decision.
 */
export async function settlePayment(unit: Unit, paid: PaidOrder, ctx: Settling): Promise<EventResult> {
  const { customer, ...facts } = await gather(unit, ctx, paid)
  const decision = judge(facts)
  const result =
    decision.do === 'grow'
      ? await grow(unit, ctx, facts, decision.payment)
      : await applyDecision(unit, ctx, facts, decision)
  const about = {
    platformOrderId: paid.id,
    platformOrderName: paid.name.slice(0, 100),
    orderPublicId: facts.named !== null && /^[\w-]{1,40}$/.test(facts.named) ? facts.named : null
  }
  return { ...result, about, customer }
}

/** Reads and locks the facts of a report. `customer`: the user of the named order, even if that account was deleted. */
async function gather(unit: Unit, ctx: Settling, reported: PaidOrder): Promise<Facts & { customer: number | null }> {
  const { tx, now } = unit
  await lock(tx, 'platformOrder', reported.id)
  const payment = (await paymentOf(tx, reported.id)) ?? null
  const paid = withKnownCharge(reported, payment)
  const money = await readSettings(tx, ctx.secrets)
  const naming = readOrderReference(paid)
  const order =
    (await orderFor(unit, payment, naming?.order ?? null)) ??
    (naming && !naming.isRenewal ? await findLostOrder(unit, ctx, paid, naming.order) : undefined)
  const variants = paid.line_items.flatMap(({ variant_id }) => variant_id ?? [])
  const sold = await ourVariants(tx, variants)
  // An order that is read does not say which line is a tip. The webhook did.
  const isKnown = order && !payment && (await isIgnoredThere(tx, paid.id))
  const mayBeFor = (line: Line): boolean =>
    line.variant_id
      ? sold.has(line.variant_id) || order?.lines.some(({ variant }) => variant === line.variant_id) === true
      : !isTip(line) && !isKnown // Typed by a person.
  // A cart may keep the attributes of a purchase here, and then hold other goods of the platform.
  const isOther = order && !payment?.orderId && paid.line_items.length > 0 && !paid.line_items.some(mayBeFor)
  const isOurs = linesOf(paid).some(({ variant }) => sold.has(variant))
  // Beside other goods, or in a note, which is free text, a number names an order only if that order exists.
  const named = naming && (order ? !isOther : isOurs && !naming.isByNote) ? naming.order : null
  // A cart may keep the attributes of an earlier renewal. An unpaid order has nothing to renew; its purchase stays one.
  const isPurchase = order?.paidAt === null || (payment?.kind === 'purchase' && payment.orderId !== null)
  const kind = naming ? (naming.isRenewal && !isPurchase ? 'renewal' : 'purchase') : (payment?.kind ?? 'purchase')
  const isAbandoned = order !== undefined && (await isDeleted(tx, order.userId))
  const terms = { paid, kind, heardAt: payment?.createdAt ?? now } as const
  return {
    now,
    money,
    paid,
    kind,
    named,
    payment,
    refunds: payment ? await refundRowsOf(tx, paid.id) : await convertRefunds(unit, paid.id, rateOf(paid)),
    isCancelled: Boolean(paid.cancelled_at) || (await isCancelledThere(tx, paid.id)),
    about: order && !isAbandoned && !isOther ? await gatherOrder(tx, order, terms) : null,
    isOurs,
    customer: isOther ? null : (order?.userId ?? null)
  }
}

/** The order that the payment was matched with before, or the one that it names. */
const orderFor = async (unit: Unit, payment: PaymentRow | null, named: string | null): Promise<OrderRow | undefined> =>
  payment?.orderId ? lockOrder(unit, payment.orderId) : named ? lockOrderByPublicId(unit, named) : undefined

/**
 * Reads the facts for judging payments of a locked order.
 * @param reported.heardAt when the payment was first reported to the shop
 */
export async function gatherOrder(
  tx: Executor,
  order: OrderRow,
  reported: { paid: Partial<PaidOrder>; kind: 'purchase' | 'renewal'; heardAt: Date }
): Promise<OrderFacts> {
  const { platformOrderId } = order
  const paidAt = paidAtOf(reported.paid, reported.heardAt)
  const isPlaced = reported.kind === 'purchase' && isPaidInTime(order, paidAt)
  return {
    order,
    paidAt,
    receiptDate: receiptDateOf(reported.paid, reported.heardAt),
    renewableBefore: await renewableBefore(tx, order),
    first: (platformOrderId && (await paymentOf(tx, platformOrderId))) || null,
    terms: isPlaced ? termsAsPlaced(order) : await currentTerms(tx, order)
  }
}

/** The clocks of the platform and of the shop may differ by so much. */
const CLOCKS = 5 * MINUTE

/**
 * Places the order that a payment names again, if a restore may have lost it: it was paid since the backup, and at most
 * a day after the restore, because a checkout that was open then may still be paid.
 */
async function findLostOrder(
  unit: Unit,
  { secrets }: Settling,
  paid: PaidOrder,
  publicId: string
): Promise<OrderRow | undefined> {
  if (isUnpaid(paid) || !/^NL-[a-z2-9]{16}$/.test(publicId)) return undefined
  const restored = await readRestored(unit.tx)
  const at = Date.parse(paid.created_at ?? '')
  const isLost = restored && at > restored.backupAt.getTime() - CLOCKS && at < restored.restoredAt.getTime() + DAY
  const email = paid.email ?? paid.contact_email ?? paid.customer?.email
  if (!isLost || !email) return undefined
  return placeLostOrder(unit, secrets, { publicId, email, lines: linesOf(paid), held: restored.held ?? {} })
}
