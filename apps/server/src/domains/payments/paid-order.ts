import type { Settings } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { OrderRow } from '../orders/index.ts'
import type { OrderLine } from '../orders/tables.ts'

/** Which payments count. */
export type MoneyRules = Pick<Settings, 'shop_currency' | 'accept_test_payments'>

/** Why a payment brings none of the shop's money. */
export type MoneyProblem =
  | { code: 'wrong_currency'; params: { currency: string; expected: string } }
  | { code: 'test_payment' }

type NeededLine = { name: string; quantity: number; paid: number }

export function moneyProblem(paid: PaidOrder, settings: MoneyRules): MoneyProblem | null {
  if (paid.test === true && !settings.accept_test_payments) return { code: 'test_payment' }
  if (paid.currency === settings.shop_currency) return null
  return { code: 'wrong_currency', params: { currency: paid.currency, expected: settings.shop_currency } }
}

/** What the platform took: what was taken off its order before it was paid was never asked for. '12.30'. */
export function chargedOf({
  total_price,
  current_total_price: left,
  total_outstanding: open,
  financial_status
}: PaidOrder): string {
  const asked = downToCents(total_price)
  // By another status money went back, which is less by now, and was taken all the same.
  if (financial_status !== 'paid' || !left) return asked
  const owed = open?.startsWith('-') ? open.slice(1) : '0'
  const taken = toCents(downToCents(left)) + toCents(downToCents(owed))
  return taken < toCents(asked) ? fromCents(taken) : asked
}

/** What the platform took of the shop's money: nothing by a test, or in another currency. '12.30'. */
export const moneyOf = (paid: PaidOrder, settings: MoneyRules): string =>
  moneyProblem(paid, settings) ? '0.00' : chargedOf(paid)

/** '12.3456' → '12.34': the platform may write more decimals than a currency has; what is below a cent counts for nothing. */
export const downToCents = (text: string): string => {
  const [whole, decimals = ''] = text.split('.')
  return `${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`
}

/** Each line that an order needs, with how much of it the platform's order brings. A variant may be needed twice. */
export function compareLines(needed: readonly OrderLine[], paid: Pick<PaidOrder, 'line_items'>): NeededLine[] {
  const left = new Map<string | null | undefined, number>()
  for (const { variant_id, quantity, current_quantity } of paid.line_items) {
    left.set(variant_id, (left.get(variant_id) ?? 0) + Math.max(0, current_quantity ?? quantity))
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
 * 'New York: 8/16', alike in every language; null where nothing is missing. Of an order whose lines are not known, every
 * address is.
 */
export function missing(
  lines: readonly NeededLine[],
  { quantity: addresses }: Pick<OrderRow, 'quantity'>
): string | null {
  if (lines.length === 0) return `0/${addresses}`
  const short = lines.filter(({ quantity, paid }) => paid < quantity)
  return short.length === 0 ? null : short.map(({ name, quantity, paid }) => `${name}: ${paid}/${quantity}`).join(', ')
}

type Status = Pick<PaidOrder, 'financial_status'>

/** Does the platform's order say that all of its money was given back, or never taken? */
export const isPaidBack = ({ financial_status }: Status): boolean =>
  financial_status === 'refunded' || financial_status === 'voided'

const UNPAID = new Set<unknown>(['pending', 'authorized', 'partially_paid', 'expired'])
export const isUnpaid = ({ financial_status }: Status): boolean => UNPAID.has(financial_status)
