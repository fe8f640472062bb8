import { fromCents, toCents, type OrderPayment } from '@netlet/contract'
import { desc, inArray } from 'drizzle-orm'
import { shopBase } from '../../integrations/shopify/index.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { readSettings } from '../settings/index.ts'
import { titleOf } from './paid-order.ts'
import { shownPayment } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/** What was paid for an order, each payment with the platform's lines and what was given back of it. */
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

/** The platform's ids are numbers: nothing else gets into an address that operators open. */
const platformUrl = (shop: string | null, id: string): string | null =>
  shop && /^\d+$/.test(id) ? `${shop}/admin/orders/${id}` : null

async function refundsOf(db: Executor, platformIds: string[]) {
  const rows = await db
    .select()
    .from(paymentRefunds)
    .where(inArray(paymentRefunds.platformOrderId, platformIds))
    .orderBy(desc(paymentRefunds.id))
  return rows.map(({ key, platformOrderId, state, amount, foreignAmount, askedBy, createdAt, reversedAt }) => ({
    of: platformOrderId,
    kind: key.startsWith('dispute:') ? ('dispute' as const) : ('refund' as const),
    state,
    amount,
    asked_by: askedBy,
    foreign_amount: foreignAmount,
    at: iso(createdAt),
    reversed_at: isoOrNull(reversedAt)
  }))
}
