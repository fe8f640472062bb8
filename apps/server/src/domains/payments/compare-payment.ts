import { toCents, type Settings } from '@netlet/contract'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { OrderRow } from '../orders/index.ts'
import type { OrderLine } from '../orders/tables.ts'
import { foreignAmountOf } from './foreign-amount.ts'
import { soldToday } from './sold-today.ts'

/** Why a payment settles nothing, as the order's failure names it. */
export type OrderProblem =
  | { code: 'lines_missing'; params: { missing: string } }
  | { code: 'wrong_currency'; params: { currency: string; expected: string } }
  | { code: 'test_payment' }
  | { code: 'purchase_not_sold'; params: { what: string } }
  | { code: 'refund_amount_unknown'; params: { amount: string } }
/** The same for renewals too. `what` is sold no longer, or not by these lines. */
export type Problem = OrderProblem | { code: 'renewal_not_sold'; params: { what: string } }

export type NeededLine = { name: string; quantity: number; paid: number }

/** What the platform took of the shop's money: nothing by a test, or in another currency. '12.30'. */
export const moneyOf = (paid: PaidOrder, settings: Rules): string =>
  isRefusedTest(paid, settings) || paid.currency !== settings.shop_currency ? '0.00' : downToCents(paid.total_price)

/** '12.3456' → '12.34': the platform may write more decimals than a currency has; what is below a cent counts for nothing. */
export const downToCents = (text: string): string => {
  const [whole = '0', decimals = ''] = text.split('.')
  return `${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`
}

type Rules = Pick<Settings, 'shop_currency' | 'accept_test_payments'>

const isRefusedTest = (paid: PaidOrder, settings: Rules) => paid.test === true && !settings.accept_test_payments

/**
 * What keeps a payment from settling an order as its purchase; null where nothing does. Prices are the platform's: they are
 * not compared. While its addresses are held it is paid by the lines that it was placed with, later by today's, and not by what
 * is sold no longer.
 * @param inTime see `isPaidInTime`
 */
export async function purchaseProblem(
  db: Executor,
  order: OrderRow,
  paid: PaidOrder,
  { settings, inTime }: { settings: Rules; inTime: boolean }
): Promise<OrderProblem | null> {
  const wrong = moneyProblem(paid, settings)
  if (wrong) return wrong
  const today = inTime ? null : await soldToday(db, order)
  if (today?.withdrawn) return { code: 'purchase_not_sold', params: { what: today.withdrawn.name } }
  const short = missing(compareLines(today?.lines ?? order.lines, paid), order)
  return short === null ? refundProblem(db, paid) : { code: 'lines_missing', params: { missing: short } }
}

/** What keeps a payment from renewing an order: it is renewed as it is sold today, or not at all. */
export async function renewalProblem(
  db: Executor,
  order: OrderRow,
  paid: PaidOrder,
  settings: Rules
): Promise<Problem | null> {
  const wrong = moneyProblem(paid, settings)
  if (wrong) return wrong
  const { lines, withdrawn } = await soldToday(db, order)
  if (withdrawn) return { code: 'renewal_not_sold', params: { what: withdrawn.name } }
  const short = missing(compareLines(lines, paid), order)
  if (short === null) return refundProblem(db, paid)
  // Enough of what was sold once: the customer paid what it was asked for by an old link.
  if (missing(compareLines(order.lines, paid), order) === null)
    return { code: 'renewal_not_sold', params: { what: short } }
  return { code: 'lines_missing', params: { missing: short } }
}

/** Money of it went back, and nobody knows how much. */
async function refundProblem(db: Executor, { id }: PaidOrder): Promise<OrderProblem | null> {
  const amount = await foreignAmountOf(db, id)
  return amount === null ? null : { code: 'refund_amount_unknown', params: { amount } }
}

function moneyProblem(paid: PaidOrder, settings: Rules): OrderProblem | null {
  if (isRefusedTest(paid, settings)) return { code: 'test_payment' }
  if (paid.currency === settings.shop_currency) return null
  return { code: 'wrong_currency', params: { currency: paid.currency, expected: settings.shop_currency } }
}

/** Each line that an order needs, with how much of it the platform's order brings. A variant may be needed twice. */
export function compareLines(needed: readonly OrderLine[], paid: Pick<PaidOrder, 'line_items'>): NeededLine[] {
  const left = new Map<string, number>()
  for (const { variant_id, quantity, current_quantity } of paid.line_items) {
    if (variant_id) left.set(variant_id, (left.get(variant_id) ?? 0) + Math.max(0, current_quantity ?? quantity))
  }
  return needed.map(({ variant, name, quantity }) => {
    const there = left.get(variant) ?? 0
    left.set(variant, Math.max(0, there - quantity))
    return { name, quantity, paid: Math.min(there, quantity) }
  })
}

/** 'Plan · New York' */
export const titleOf = ({ title, variant }: { title: string; variant?: string | null | undefined }): string =>
  variant ? `${title} · ${variant}` : title

/** A line as the console shows it, with what is left of it after the platform's order was edited. */
export const lineOf = ({
  title,
  variant_title,
  quantity,
  current_quantity,
  price
}: PaidOrder['line_items'][number]) => ({
  title: titleOf({ title, variant: variant_title }),
  quantity: current_quantity ?? quantity,
  price
})

/**
 * 'New York: 8/16', alike in every language; null where nothing is missing. Of an order whose lines nobody knows, every
 * address is.
 */
function missing(lines: readonly NeededLine[], { quantity: addresses }: OrderRow): string | null {
  if (lines.length === 0) return `0/${addresses}`
  const short = lines.filter(({ quantity, paid }) => paid < quantity)
  return short.length === 0 ? null : short.map(({ name, quantity, paid }) => `${name}: ${paid}/${quantity}`).join(', ')
}

/** Does the platform's order say that its money was given back, or never came for good? */
export const isPaidBack = (paid: PaidOrder): boolean =>
  Boolean(paid.cancelled_at) || paid.financial_status === 'refunded' || paid.financial_status === 'voided'

const UNPAID = new Set(['pending', 'authorized', 'partially_paid', 'expired'])
export const isUnpaid = (paid: PaidOrder): boolean => UNPAID.has(paid.financial_status ?? '')

/**
 * @param charged decimals, as the refunds' amounts; an amount of null is all of it
 * @returns what of `charged` was given back, in cents, and whether that is all of it
 */
export function sumRefunds(
  refunds: readonly { amount: string | null }[],
  charged: string
): { sum: bigint; all: boolean } {
  const total = toCents(charged)
  const sum = refunds.reduce((cents, { amount }) => (amount === null ? total : cents + toCents(amount)), 0n)
  const all = refunds.some(({ amount }) => amount === null) || (total > 0n && sum >= total)
  return { sum: all ? total : sum, all }
}
