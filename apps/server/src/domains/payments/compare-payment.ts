import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { OrderRow } from '../orders/index.ts'
import { foreignAmountOf } from './foreign-amount.ts'
import { compareLines, missing, moneyProblem, type MoneyProblem, type MoneyRules } from './paid-order.ts'
import { soldToday } from './sold-today.ts'

/** Why a payment settles nothing, as the order's failure names it. */
export type OrderProblem =
  | MoneyProblem
  | { code: 'lines_missing'; params: { missing: string } }
  | { code: 'purchase_not_sold'; params: { what: string } }
  | { code: 'refund_amount_unknown'; params: { amount: string } }
/** The same for renewals too. `what` is sold no longer, or not by these lines. */
export type Problem = OrderProblem | { code: 'renewal_not_sold'; params: { what: string } }

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
  { settings, inTime }: { settings: MoneyRules; inTime: boolean }
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
  settings: MoneyRules
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
