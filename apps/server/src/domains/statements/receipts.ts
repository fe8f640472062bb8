import { fromCents, refuse, toCents, type Receipt, type Receipts, type UncountedPayment } from '@netlet/contract'
import { and, asc, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { readShopName } from '../settings/index.ts'
import { ruleTexts } from '../inventory/index.ts'
import { productNameColumn, orderTranslations } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { type PaymentRow, paymentStateOf } from '../payments/index.ts'
import { paymentRefunds, payments, type PaidLine } from '../payments/tables.ts'

/**
 * What the customer of an order paid for it, oldest first: the payments that counted, including refunded ones, and
 * apart from them those that did not.
 */
export async function receiptsOf(db: Executor, orderId: number, userId: number): Promise<Result<Receipts>> {
  const [found] = await db
    .select({ order: orders, called: productNameColumn, username: users.username, email: users.email })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(and(eq(orders.id, orderId), eq(orders.userId, userId), isNull(orders.deletedAt)))
  if (!found) return refuse('not_found')
  const { order, called, username, email } = found
  const [all, rules] = await Promise.all([
    db.select().from(payments).where(eq(payments.orderId, orderId)).orderBy(asc(payments.id)),
    ruleTexts(db)
  ])
  const paid = all.filter(payment => payment.accepted)
  const refunds = await refundsOfAll(
    db,
    paid.map(payment => payment.platformOrderId)
  )
  return ok({
    shop: await readShopName(db),
    order_id: order.publicId,
    username,
    email,
    product: order.productName,
    variant: order.variantName,
    rules: order.rules.map(id => rules.get(id)?.name ?? `#${id}`),
    ...orderTranslations(order, called, rules),
    quantity: order.quantity,
    receipts: paid.map(payment => receiptOf(payment, refunds.get(payment.platformOrderId) ?? [])),
    uncounted: all.filter(payment => !payment.accepted).map(uncountedOf)
  })
}

const uncountedOf = (payment: PaymentRow): UncountedPayment => {
  const state = paymentStateOf(payment)
  if (state === 'accepted') throw new Error(`payment ${payment.id} counts`)
  return {
    id: payment.id,
    state,
    kind: payment.kind,
    platform_order: payment.platformOrderNumber,
    paid_at: iso(payment.paidAt ?? payment.createdAt),
    currency: payment.currency,
    total: payment.charged
  }
}

type Refund = Pick<typeof paymentRefunds.$inferSelect, 'amount' | 'createdAt'>

/** Refunds of these payments that were not reversed, oldest first. */
async function refundsOfAll(db: Executor, platformIds: string[]): Promise<Map<string, Refund[]>> {
  if (platformIds.length === 0) return new Map()
  const rows = await db
    .select()
    .from(paymentRefunds)
    .where(and(inArray(paymentRefunds.platformOrderId, platformIds), eq(paymentRefunds.state, 'counted')))
    .orderBy(asc(paymentRefunds.id))
  return Map.groupBy(rows, row => row.platformOrderId)
}

function receiptOf(payment: PaymentRow, refunds: Refund[]): Receipt {
  const back = partsOf(payment.charged, refunds)
  return {
    id: payment.id,
    kind: payment.kind,
    platform_order: payment.platformOrderNumber,
    paid_at: iso(payment.paidAt ?? payment.createdAt),
    days: payment.days,
    lines: (payment.lines ?? []).map(lineOf),
    currency: payment.currency,
    discount: payment.discount,
    total: payment.charged,
    refunds: back.map(({ at, cents }) => ({ at, amount: fromCents(cents) })),
    refunded: fromCents(back.reduce((sum, { cents }) => sum + cents, 0n))
  }
}

const lineOf = ({ title, variant, quantity, price }: PaidLine) => ({
  title,
  variant,
  quantity,
  unit_price: price,
  amount: fromCents(BigInt(quantity) * toCents(price))
})

/**
 * Each refund's amount, up to what was left of the payment. One of everything takes the rest; unknown ones are left
 * out.
 */
function partsOf(charged: string, refunds: Refund[]): { at: string; cents: bigint }[] {
  let left = toCents(charged)
  return refunds.flatMap(({ amount, createdAt }) => {
    const reported = amount === null ? left : toCents(amount)
    const cents = reported < left ? reported : left
    left -= cents
    return cents > 0n ? [{ at: iso(createdAt), cents }] : []
  })
}
