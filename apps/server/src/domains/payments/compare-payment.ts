import { toCents, type Settings } from '@netlet/contract'
import { eq, inArray } from 'drizzle-orm'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { variants } from '../catalog/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import type { OrderLine } from '../orders/tables.ts'

/** Why a payment settles nothing, as the order's failure names it. */
export type Problem =
  | { code: 'lines_missing'; params: { missing: string } }
  | { code: 'wrong_currency'; params: { currency: string; expected: string } }
  | { code: 'test_payment' }

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

/** What keeps a payment from settling an order; null where nothing does. Prices are the platform's: they are not compared. */
export async function problemOf(
  db: Executor,
  order: OrderRow,
  paid: PaidOrder,
  { settings, renewal }: { settings: Rules; renewal: boolean }
): Promise<Problem | null> {
  if (isRefusedTest(paid, settings)) return { code: 'test_payment' }
  if (paid.currency !== settings.shop_currency)
    return { code: 'wrong_currency', params: { currency: paid.currency, expected: settings.shop_currency } }
  const short = missing(compareLines(order.lines, paid))
  if (short === null) return null
  // A renewal's link sells today's variants, which may be others than those of the order's first payment.
  if (renewal && missing(compareLines(await linesOfToday(db, order), paid)) === null) return null
  return { code: 'lines_missing', params: { missing: short } }
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

/** 'New York: 8 of 16'; null where nothing is missing. Of an order whose lines nobody knows, everything is. */
function missing(lines: readonly NeededLine[]): string | null {
  if (lines.length === 0) return 'all of it'
  const short = lines.filter(({ quantity, paid }) => paid < quantity)
  return short.length === 0
    ? null
    : short.map(({ name, quantity, paid }) => `${name}: ${paid} of ${quantity}`).join(', ')
}

/** The lines that another term of an order is sold by today; those that are gone keep their old variant. */
async function linesOfToday(db: Executor, { lines, variantId, rules }: OrderRow): Promise<OrderLine[]> {
  const [variant] = await db.select({ id: variants.platformId }).from(variants).where(eq(variants.id, variantId))
  const found = await db
    .select({ id: aclRules.id, variant: aclRules.platformVariantId })
    .from(aclRules)
    .where(inArray(aclRules.id, rules))
  const byRule = new Map(found.map(rule => [rule.id, rule.variant]))
  return lines.map((line, at) => {
    const rule = rules[at - 1]
    const today = at === 0 ? variant?.id : rule === undefined ? undefined : byRule.get(rule)
    return { ...line, variant: today ?? line.variant }
  })
}

/** Does the platform's order say that its money was given back, or never came for good? */
export const isPaidBack = (paid: PaidOrder): boolean =>
  Boolean(paid.cancelled_at) || paid.financial_status === 'refunded' || paid.financial_status === 'voided'

const UNPAID = new Set(['pending', 'authorized', 'partially_paid', 'expired'])
export const isUnpaid = (paid: PaidOrder): boolean => UNPAID.has(paid.financial_status ?? '')

/** @returns what of `charged` was given back, in decimals, and whether that is all of it; null amounts are all */
export function sumRefunds(
  refunds: readonly { amount: string | null }[],
  charged: string
): { sum: bigint; all: boolean } {
  const total = toCents(charged)
  const sum = refunds.reduce((cents, { amount }) => (amount === null ? total : cents + toCents(amount)), 0n)
  const all = refunds.some(({ amount }) => amount === null) || (total > 0n && sum >= total)
  return { sum: all ? total : sum, all }
}
