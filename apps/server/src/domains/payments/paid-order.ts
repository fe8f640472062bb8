import type { Settings } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { OrderRow } from '../orders/index.ts'
import type { OrderLine } from '../orders/tables.ts'

/** The settings that decide which payments count. */
export type MoneyRules = Pick<Settings, 'shop_currency' | 'accept_test_payments'>

/** Why a payment brings the shop no money. */
export type MoneyProblem =
  | { code: 'wrong_currency'; params: { currency: string; expected: string } }
  | { code: 'test_payment' }

type NeededLine = { name: string; quantity: number; paid: number }
type Lines = { line_items: readonly Pick<Line, 'variant_id' | 'quantity' | 'current_quantity'>[] }

export function moneyProblem(paid: PaidOrder, settings: MoneyRules): MoneyProblem | null {
  if (paid.test === true && !settings.accept_test_payments) return { code: 'test_payment' }
  if (paid.currency === settings.shop_currency) return null
  return { code: 'wrong_currency', params: { currency: paid.currency, expected: settings.shop_currency } }
}

/** What the platform took, as '12.30'. It never charged what was taken off its order before the payment. */
export function chargedOf(paid: PaidOrder): string {
  const { total_price, current_total_price: left, total_outstanding: open, financial_status } = paid
  const asked = downToCents(total_price)
  // In other statuses refunds have lowered the total, but all of it was taken.
  if (financial_status !== 'paid' || !left) return asked
  const owed = open?.startsWith('-') ? open.slice(1) : '0'
  const taken = toCents(downToCents(left)) + toCents(downToCents(owed))
  return taken < toCents(asked) ? fromCents(taken) : asked
}

type Charge = { charged: string; buyerAmount: string | null; buyerCurrency: string | null; reportedAt: Date | null }

/**
 * A report with the charge that is known from before, if it does not say what was taken: refunds lower its total as
 * edits before the payment do. Reading the order tells what was added, so the time of the known charge stays too.
 */
export function withKnownCharge(paid: PaidOrder, known: Charge | null): PaidOrder {
  if (!known || paid.financial_status === 'paid' || !paid.current_total_price) return paid
  const { charged, buyerAmount: amount, buyerCurrency: currency_code, reportedAt } = known
  const presentment_money = amount === null || currency_code === null ? null : { amount, currency_code }
  const total_price_set = { presentment_money }
  const isOld = reportedAt !== null && new Date(paid.updated_at ?? Number.NaN) < reportedAt
  const updated_at = isOld ? paid.updated_at : (reportedAt?.toISOString() ?? null)
  return { ...paid, updated_at, total_price: charged, current_total_price: null, total_price_set }
}

/** What the platform took for the shop, as '12.30'; nothing for a test or another currency. */
export const moneyOf = (paid: PaidOrder, settings: MoneyRules): string =>
  moneyProblem(paid, settings) ? '0.00' : chargedOf(paid)

/** '12.3456' → '12.34': the platform may send more decimals than a currency has. Fractions of a cent do not count. */
export const downToCents = (text: string): string => {
  const [whole, decimals = ''] = text.split('.')
  return `${whole}.${decimals.slice(0, 2).padEnd(2, '0')}`
}

/** The lines that name a variant, with the quantity that is left after edits of the platform's order. */
export const linesOf = ({ line_items }: Lines): { variant: string; quantity: number }[] =>
  line_items.flatMap(({ variant_id: variant, quantity, current_quantity }) => {
    const left = current_quantity ?? quantity
    return variant && left > 0 ? [{ variant, quantity: left }] : []
  })

/** Each line that an order needs, with the quantity that was paid for. A variant may be needed twice. */
export function compareLines(needed: readonly OrderLine[], paid: Lines): NeededLine[] {
  const left = new Map<string, number>()
  for (const { variant, quantity } of linesOf(paid)) left.set(variant, (left.get(variant) ?? 0) + quantity)
  return needed.map(({ variant, name, quantity }) => {
    const there = left.get(variant) ?? 0
    left.set(variant, Math.max(0, there - quantity))
    return { name, quantity, paid: Math.min(there, quantity) }
  })
}

export const quantityOf = (lines: readonly Pick<OrderLine, 'variant' | 'quantity'>[], of: string): number =>
  lines.reduce((sum, { variant, quantity }) => (variant === of ? sum + quantity : sum), 0)

/** The variants of which the platform's order has more than its payment's stored lines, because it was edited. */
export function variantsAdded(stored: Lines['line_items'] | null, paid: Lines): string[] {
  const [was, now] = [linesOf({ line_items: stored ?? [] }), linesOf(paid)]
  return now.flatMap(({ variant }) => (quantityOf(now, variant) > quantityOf(was, variant) ? variant : []))
}

/** 'Plan · New York' */
export const titleOf = ({ title, variant }: { title: string; variant?: string | null | undefined }): string =>
  variant ? `${title} · ${variant}` : title

export type Line = PaidOrder['line_items'][number]

/**
 * 'New York: 8/16', the same in every language; null if nothing is missing. If an order's lines are unknown, every
 * address is missing.
 */
export function missing(lines: readonly NeededLine[], { quantity: all }: Pick<OrderRow, 'quantity'>): string | null {
  if (lines.length === 0) return `0/${all}`
  const short = lines.filter(({ quantity, paid }) => paid < quantity)
  return short.length === 0 ? null : short.map(({ name, quantity, paid }) => `${name}: ${paid}/${quantity}`).join(', ')
}

type Status = Pick<PaidOrder, 'financial_status'>

/** Does the platform's status say that all of the money was refunded, or never taken? */
export const isRefundedOrVoided = ({ financial_status }: Status): boolean =>
  financial_status === 'refunded' || financial_status === 'voided'

const UNPAID = new Set<unknown>(['pending', 'authorized', 'partially_paid', 'expired'])
export const isUnpaid = ({ financial_status }: Status): boolean => UNPAID.has(financial_status)
