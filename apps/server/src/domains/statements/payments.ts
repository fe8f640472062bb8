import { fromCents, toCents, type OrderPayment, type Payment } from '@netlet/contract'
import { and, asc, desc, eq, gt, inArray } from '../../infra/db/drizzle.ts'
import { shopBase } from '../../integrations/shopify/index.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { orders } from '../orders/tables.ts'
import { isUnconverted, paymentStateOf, titleOf, type PaymentRow } from '../payments/index.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'
import { readSettings } from '../settings/index.ts'

/** A payment in every list. Amounts are decimals, `charged` in the payment's currency. */
const shownPayment = (payment: PaymentRow) => ({
  id: payment.id,
  created_at: iso(payment.createdAt),
  platform_order: payment.platformOrderNumber,
  kind: payment.kind,
  state: paymentStateOf(payment),
  charged: payment.charged,
  currency: payment.currency,
  amount: payment.amount,
  refunded_amount: payment.refundedAmount
})

/** Payments of a user's orders. Money without an order of ours is only in the inbox. */
export const userPaymentList = (userId: number) =>
  defineList<ListInput<'id'>, Payment>({
    name: 'user_payments',
    table: payments,
    id: payments.id,
    sort: { id: payments.id },
    match: () => ({ where: [eq(payments.userId, userId)] }),
    async load(db, ids) {
      const rows = await db
        .select({ payment: payments, order: orders.publicId, orderId: orders.id })
        .from(payments)
        .innerJoin(orders, eq(orders.id, payments.orderId))
        .where(among(payments.id, ids))
      return rows.map(({ payment, order, orderId }) => ({
        ...shownPayment(payment),
        order,
        order_id: orderId
      }))
    }
  })

/** The payments of an order, each with the platform's lines and its refunds. */
export const orderPaymentList = (orderId: number, { secrets }: Pick<AppContext, 'secrets'>) =>
  defineList<ListInput<'id'>, OrderPayment>({
    name: `order_${orderId}_payments`,
    table: payments,
    id: payments.id,
    sort: { id: payments.id },
    match: () => ({ anyOf: [{ column: payments.orderId, among: [orderId] }] }),
    async load(db, ids) {
      const rows = await db.select().from(payments).where(among(payments.id, ids))
      const platformIds = rows.map(row => row.platformOrderId)
      const refunds = await refundsOf(db, platformIds)
      const shop = shopBase((await readSettings(db, secrets)).shopify_shop_url)
      return rows.map(payment => ({
        ...shownPayment(payment),
        platform_order_id: payment.platformOrderId,
        platform_url: platformUrl(shop, payment.platformOrderId),
        discount: payment.discount,
        counts: payment.accepted ? fromCents(toCents(payment.amount) - toCents(payment.refundedAmount)) : '0.00',
        days: payment.days,
        refunded_at: isoOrNull(payment.refundedAt),
        lines: (payment.lines ?? []).map(({ variant, title, ...line }) => ({
          title: titleOf({ title, variant }),
          ...line
        })),
        refunds: refunds.filter(refund => refund.of === payment.platformOrderId).map(({ of: _of, ...refund }) => refund)
      }))
    }
  })

/** Operators open this address, so it must contain nothing but the platform's numeric id. */
const platformUrl = (shop: string | null, id: string): string | null =>
  shop && /^\d+$/.test(id) ? `${shop}/admin/orders/${id}` : null

async function refundsOf(db: Executor, platformIds: string[]) {
  const rows = await db
    .select()
    .from(paymentRefunds)
    .where(inArray(paymentRefunds.platformOrderId, platformIds))
    .orderBy(desc(paymentRefunds.id))
  return rows.map(row => ({
    of: row.platformOrderId,
    kind: row.key.startsWith('dispute:') ? ('dispute' as const) : ('refund' as const),
    state: row.state,
    amount: row.amount,
    asked_by: row.askedBy,
    foreign_amount: isUnconverted(row) ? row.foreignAmount : null,
    at: iso(row.createdAt),
    reversed_at: isoOrNull(row.reversedAt)
  }))
}

/** A user's payments for the export of personal data, in batches. */
export async function* exportPayments(db: Executor, userId: number): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select({ id: payments.id, payment: payments, orderId: orders.publicId })
      .from(payments)
      .innerJoin(orders, eq(orders.id, payments.orderId))
      .where(and(eq(orders.userId, userId), gt(payments.id, after)))
      .orderBy(asc(payments.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(({ payment, orderId }) => ({
      order_id: orderId,
      platform_order: payment.platformOrderNumber,
      kind: payment.kind,
      amount: payment.amount,
      discount: payment.discount,
      charged: payment.charged,
      currency: payment.currency,
      refunded_amount: payment.refundedAmount,
      accepted: payment.accepted,
      created_at: iso(payment.createdAt)
    }))
}
