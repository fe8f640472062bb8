import { z } from 'zod'
import { documents } from './documents.ts'
import { MoneyInBoth, UserErrors, buyerMoney, fromGid, toGid } from './shapes.ts'
import { orderNotShown } from './checkout-url.ts'
import {
  BothMoneys,
  decimalsOf,
  latestOf,
  Linked,
  OrderMoney,
  paymentsOf,
  spreadOver,
  type Payment
} from './refund-parts.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import type { Execute } from './transport.ts'
import { Name } from '../foreign-texts.ts'

const Made = z.object({ refund: z.object({ id: Name }).nullish(), userErrors: UserErrors })

const OrderToRefund = z
  .object({
    order: OrderMoney.extend({
      currencyCode: Name.optional(),
      presentmentCurrencyCode: Name.optional(),
      netPaymentSet: BothMoneys.optional()
    }).nullable()
  })
  .transform(data => data.order)

/**
 * `refundCreate`'s input, in the buyer's currency.
 * @property byHand '15.40 GBP': the part for manual gateways such as a bank deposit, where the platform only records the
 *   refund and the shop sends the money itself. It is not sent.
 */
export type RefundInput = {
  orderId: string
  note: string
  notify: false
  transactions: { orderId: string; kind: 'REFUND'; parentId: string; gateway: string; amount: string }[]
  currency?: string
  byHand?: string
}

/**
 * Reads an order's payments and spreads a refund over them, converted at the payment's rate. Refunds nothing.
 * @param refund.amount in the shop's currency
 */
export async function readRefundInput(
  execute: Execute,
  orderId: string,
  { amount, note }: { amount: string; note: string }
): Promise<ShopifyResult<RefundInput>> {
  const order = toGid('Order', orderId)
  const found = await execute(documents.orderTransactions, { id: order }, OrderToRefund)
  if (!found.ok) return found
  const unknown = `The e-commerce platform has no payment for order ${orderId}.`
  if (!found.value) return orderNotShown(execute, orderId, unknown)
  const payments = paymentsOf(found.value)
  if (payments.length === 0) return failed('not_found', unknown)
  const { currencyCode = 'USD', presentmentCurrencyCode: currency = currencyCode, netPaymentSet } = found.value
  const isForeign = currency !== currencyCode
  const refunds = found.value.transactions.filter(({ kind }) => kind === 'REFUND').length
  const asked = isForeign ? inPresentment(amount, currency, { left: netPaymentSet, payments, refunds }) : amount
  if (asked === null)
    return failed('rejected', `The e-commerce platform does not say how order ${orderId} was converted to ${currency}.`)
  const transactions = spreadOver(found.value, { asked, currency }).map(part => ({
    orderId: order,
    kind: 'REFUND' as const,
    ...part
  }))
  const manual = new Set(found.value.transactions.flatMap(one => (one.manualPaymentGateway ? [one.id] : [])))
  const byHand = transactions.reduce((sum, one) => sum + (manual.has(one.parentId) ? Number(one.amount) : 0), 0)
  return done({
    orderId: order,
    note,
    notify: false,
    transactions,
    ...(isForeign ? { currency } : {}),
    ...(byHand > 0 ? { byHand: `${byHand.toFixed(decimalsOf(currency))} ${currency}` } : {})
  })
}

/**
 * Refunds money of an order. A repeat needs the same key and the same input.
 * @param key idempotency key
 * @returns the refund's id; null if the platform names none. 'key_failed': it was not made, and needs a new key
 */
export async function createRefund(
  execute: Execute,
  { byHand: _byHand, ...input }: RefundInput,
  key: string
): Promise<ShopifyResult<string | null>> {
  const reply = await execute(documents.refund, { input, key }, z.object({ refundCreate: Made.nullable() }))
  if (!reply.ok) return reply
  const errors = reply.value.refundCreate?.userErrors ?? []
  const id = reply.value.refundCreate?.refund?.id
  if (errors.length === 0) return done(id ? fromGid(id) : null)
  const message = errors.map(error => error.message).join('; ')
  const isFailedKey = errors.some(error => FAILED_KEY.test(error.message))
  return failed(isFailedKey ? 'key_failed' : errors.some(isAboutKey) ? 'bad_reply' : 'rejected', message)
}

/** The message of `IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED`: errors of a refund have no code. */
const FAILED_KEY = /previous request with this idempotency key failed/i

/** Errors about the key, which have no code: the same key with another input, or its first call still runs. */
const isAboutKey = ({ message }: { message: string }): boolean => /idempotency key|currently in progress/i.test(message)

/** 'unknown': the platform names no transaction of it. Some refunds have none, such as goods returned without money. */
export type RefundOutcome = 'made' | 'pending' | 'failed' | 'unknown'

/** `parts`: the money of its open transactions; without these, of all. */
export type RefundRead = {
  outcome: RefundOutcome
  parts: { amount: string; buyer: ReturnType<typeof buyerMoney> }[]
}

const Transactions = z.object({ nodes: z.array(Linked.extend({ status: Name, amountSet: MoneyInBoth })) })
const AskedRefund = z.object({ refund: z.object({ transactions: Transactions }).nullable() })

const FINAL: ReadonlySet<string> = new Set(['SUCCESS', 'FAILURE', 'ERROR'])

/** @returns 'pending' while any transaction is open */
export async function readRefund(execute: Execute, refundId: string): Promise<ShopifyResult<RefundRead>> {
  const reply = await execute(documents.refundStatus, { id: toGid('Refund', refundId) }, AskedRefund)
  if (!reply.ok) return reply
  const all = latestOf(reply.value.refund?.transactions.nodes ?? [])
  const open = all.filter(({ status }) => !FINAL.has(status))
  const isMade = all.some(({ status }) => status === 'SUCCESS')
  const outcome = open.length > 0 ? 'pending' : isMade ? 'made' : all.length > 0 ? 'failed' : 'unknown'
  const parts = (open.length > 0 ? open : all).map(({ amountSet: { shopMoney, presentmentMoney } }) => ({
    amount: shopMoney.amount,
    buyer: buyerMoney(presentmentMoney)
  }))
  return done({ outcome, parts })
}

/**
 * All that is left is exact; a part is rounded down to the currency's decimals. Null if the rate is unknown.
 * @param refunds how many were made. Our books count each as up to a cent of the shop's currency more than it was, and
 *   leave out a third decimal of the buyer's, so what they have left differs by that
 */
function inPresentment(
  amount: string,
  currency: string,
  { left, payments, refunds }: { left?: BothMoneys | undefined; payments: readonly Payment[]; refunds: number }
): string | null {
  if (left && Number(left.shopMoney.amount) === Number(amount)) return left.presentmentMoney.amount
  const sum = (money: 'shopMoney' | 'presentmentMoney') =>
    payments.reduce((total, { amountSet }) => total + Number(amountSet?.[money].amount ?? NaN), 0)
  const paid = sum('shopMoney')
  if (!(paid > 0)) return null
  const decimals = decimalsOf(currency)
  const unit = 10 ** decimals
  const rate = sum('presentmentMoney') / paid
  const exact = Number(amount) * rate
  const missing = left ? Math.abs(Number(left.presentmentMoney.amount) - exact) : Infinity
  if (left && missing <= refunds * 0.01 * Math.max(rate, 1) + 1e-6) return left.presentmentMoney.amount
  // Floating point may fall just short of a whole unit.
  return (Math.floor(exact * unit + 1e-6) / unit).toFixed(decimals)
}
