import { fromCents, toCents } from '@netlet/contract/money'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { ChangedRefund, DoubtfulRefund } from '../commerce/index.ts'
import { downToCents, sumRefunds } from './paid-order.ts'
import type { PaymentRow } from './rows.ts'
import type { paymentRefunds } from './tables.ts'

/** A refund that the platform told of, and for so long does not list or lists as nothing, was not made after all. */
export const VOID_AFTER = 10 * MINUTE
/** The platform lists so many refunds of an order: one that is not among them may be a later one. */
export const LISTED = 20

type RefundRow = typeof paymentRefunds.$inferSelect
type Compared = { payment: PaymentRow; rows: readonly RefundRow[]; now: Date }
type Difference =
  | { eventId: string; topic: 'reconciled/refund'; payload: ChangedRefund }
  | { eventId: string; topic: 'reconciled/doubt'; payload: DoubtfulRefund }

/** The rows of one refund: what was told of it first, and each change of its amount since. */
export const rowsOf = <Row extends Pick<RefundRow, 'key'>>(rows: readonly Row[], key: string): Row[] =>
  rows.filter(row => row.key === key || row.key.startsWith(`${key}:`))

/** The key of the next row of a refund. @param rows see `rowsOf` */
export const keyAfter = (rows: readonly Pick<RefundRow, 'key'>[], key: string): string =>
  rows.length === 0 ? key : `${key}:${rows.length + 1}`

/**
 * What such rows of one refund give back, in cents: also more than was `charged`, where the order was edited on the platform
 * since. A null amount is all of `charged`.
 */
export const countedOf = (rows: readonly Pick<RefundRow, 'amount' | 'reversedAt'>[], charged: string): bigint =>
  rows.reduce((cents, { amount, reversedAt }) => (reversedAt ? cents : cents + toCents(amount ?? charged)), 0n)

/** All of it, by the platform's status of its order: the cents of several refunds may add up to less. */
const reportedKey = (platformOrderId: string): string => `reported:${platformOrderId}`

/**
 * Where the platform's account of what it gave back of a payment differs from ours: a refund that is more or less by now, or
 * failed; a status by which all of it went back, or not so much as counts here. Disputes, cancellations and what operators
 * decided are no part of it.
 * @returns events whose ids tell these differences apart
 */
export function differences(order: ShopifyOrder, compared: Compared): Difference[] {
  const { payment, rows, now } = compared
  const keys = rows.map(({ key }) => key).filter(key => /^(?:refund|reported):[^:]+$/.test(key))
  const changes = keys.flatMap(key => {
    const of = rowsOf(rows, key)
    const known = countedOf(of, payment.charged)
    const says = saidOf(order, key)
    if (says === null) return []
    // The platform may know of it only since it was asked: less than that is believed later.
    if (says <= known && (says === known || !of.every(row => isSettled(row, now)))) return []
    return [changeOf(order, { key, known, amount: fromCents(says) })]
  })
  if (changes.length > 0) return changes
  if (order.financialStatus === 'REFUNDED') return isAllBack(order, compared)
  return doubtsOf(order, keys, compared)
}

const isSettled = ({ createdAt }: RefundRow, now: Date): boolean => createdAt.getTime() <= now.getTime() - VOID_AFTER

/** How much the platform says a refund is, in cents; null where it says nothing of it. */
function saidOf({ id, refunds, financialStatus, cancelledAt }: ShopifyOrder, key: string): bigint | null {
  const isAllBackThere = financialStatus === 'REFUNDED' || Boolean(cancelledAt)
  if (key === reportedKey(id)) return isAllBackThere ? null : 0n
  const listed = refunds.find(refund => `refund:${refund.id}` === key)
  if (listed) return toCents(downToCents(listed.amount))
  return financialStatus === 'PAID' && refunds.length < LISTED ? 0n : null
}

type Change = { key: string; known: bigint; amount: string | null }

function changeOf(
  { id, name, updatedAt, financialStatus: status }: ShopifyOrder,
  { key, known, amount }: Change
): Difference {
  const payload = { order_id: id, name, key, known: fromCents(known), amount, status }
  const eventId = `${key}:${payload.known}:${amount ?? 'all'}:${updatedAt}`
  return { eventId, topic: 'reconciled/refund', payload }
}

function isAllBack(order: ShopifyOrder, { payment, rows }: Compared): Difference[] {
  if (payment.refundedAt || toCents(payment.charged) === 0n) return []
  const key = reportedKey(order.id)
  return [changeOf(order, { key, known: countedOf(rowsOf(rows, key), payment.charged), amount: null })]
}

/** The refunds agree, and the status does not: nobody knows which of them is right. */
function doubtsOf(
  { id, name, financialStatus: status }: ShopifyOrder,
  keys: readonly string[],
  { payment: { charged }, rows, now }: Compared
): Difference[] {
  const told = keys.flatMap(key => rowsOf(rows, key))
  const { sum } = sumRefunds(
    told.filter(({ reversedAt }) => !reversedAt),
    charged
  )
  const most = status === 'PAID' ? 0n : toCents(charged) - 1n
  if (sum <= most || status === null || !told.every(row => isSettled(row, now))) return []
  const payload = { order_id: id, name, amount: fromCents(sum), status }
  return [{ eventId: `doubt:${id}:${status}:${payload.amount}`, topic: 'reconciled/doubt', payload }]
}
