import { z } from 'zod'
import { documents } from './documents.ts'
import { fromGid, toGid } from './ids.ts'
import { done, failed, type ShopifyResult } from './result.ts'
import { Money, UserErrors } from './shapes.ts'
import type { Execute } from './transport.ts'

const Amount = z.object({ amount: Money })
const BothMoneys = z.object({ shopMoney: Amount, presentmentMoney: Amount })
type BothMoneys = z.infer<typeof BothMoneys>

const Made = z.object({ refund: z.object({ id: z.string() }).nullish(), userErrors: UserErrors })

const OrderTransactions = z
  .object({
    order: z
      .object({
        currencyCode: z.string().optional(),
        presentmentCurrencyCode: z.string().optional(),
        netPaymentSet: BothMoneys.optional(),
        transactions: z.array(
          z.object({
            id: z.string(),
            kind: z.string(),
            status: z.string(),
            gateway: z.string().nullable(),
            amountSet: BothMoneys.optional()
          })
        )
      })
      .nullable()
  })
  .transform(data => data.order)

/**
 * Gives money of an order back. The platform wants it in the currency in which the buyer paid: where that is another one, the
 * amount is converted as the payment was.
 * @param refund.amount in the shop's currency
 * @param refund.key the same refund asked for twice is made once
 * @returns the refund's id; null where the platform names none
 */
export async function refundOrder(
  execute: Execute,
  orderId: string,
  { amount, key, note }: { amount: string; key: string; note: string }
): Promise<ShopifyResult<string | null>> {
  const order = toGid('Order', orderId)
  const found = await execute(documents.orderTransactions, { id: order }, OrderTransactions)
  if (!found.ok) return found
  const paid = found.value?.transactions.find(
    one => (one.kind === 'SALE' || one.kind === 'CAPTURE') && one.status === 'SUCCESS'
  )
  if (!found.value || !paid?.gateway)
    return failed('not_found', `The shop platform knows no payment of order ${orderId}.`)
  const { currencyCode, presentmentCurrencyCode: currency, netPaymentSet } = found.value
  const isForeign = currency !== undefined && currency !== currencyCode
  const asked = isForeign ? inPresentment(amount, currency, { left: netPaymentSet, paid: paid.amountSet }) : amount
  if (asked === null)
    return failed('rejected', `The shop platform does not say how order ${orderId} was converted to ${currency}.`)
  const transactions = [{ orderId: order, parentId: paid.id, kind: 'REFUND', gateway: paid.gateway, amount: asked }]
  const reply = await execute(
    documents.refund,
    { input: { orderId: order, note, notify: false, transactions, ...(isForeign ? { currency } : {}) }, key },
    z.object({ refundCreate: Made.nullable() })
  )
  if (!reply.ok) return reply
  const errors = reply.value.refundCreate?.userErrors ?? []
  const id = reply.value.refundCreate?.refund?.id
  return errors.length === 0
    ? done(id ? fromGid(id) : null)
    : failed('rejected', errors.map(error => error.message).join('; '))
}

/** What became of a refund that the platform was asked for. */
export type RefundFate = 'made' | 'pending' | 'failed'

const Transactions = z.object({ nodes: z.array(z.object({ status: z.string() })) })
const AskedRefund = z.object({ refund: z.object({ transactions: Transactions }).nullable() })

/** @returns 'pending' while any of its money may still go or come back; 'failed' also where the platform has no such refund */
export async function readRefundFate(execute: Execute, refundId: string): Promise<ShopifyResult<RefundFate>> {
  const reply = await execute(documents.refundStatus, { id: toGid('Refund', refundId) }, AskedRefund)
  if (!reply.ok) return reply
  const statuses = new Set(reply.value.refund?.transactions.nodes.map(({ status }) => status))
  const isOver = [...statuses].every(status => status === 'SUCCESS' || status === 'FAILURE' || status === 'ERROR')
  return done(!isOver ? 'pending' : statuses.has('SUCCESS') ? 'made' : 'failed')
}

/** All that is left is exactly that; a part is rounded down to what the currency knows. Null: it cannot be told. */
function inPresentment(
  amount: string,
  currency: string,
  { left, paid }: { left?: BothMoneys | undefined; paid?: BothMoneys | undefined }
): string | null {
  if (left && Number(left.shopMoney.amount) === Number(amount)) return left.presentmentMoney.amount
  if (!paid || Number(paid.shopMoney.amount) <= 0) return null
  const decimals = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits
  const unit = 10 ** (decimals ?? 2)
  const exact = (Number(amount) * Number(paid.presentmentMoney.amount)) / Number(paid.shopMoney.amount)
  // A product of decimals may fall short of its whole unit by a hair.
  return (Math.floor(exact * unit + 1e-6) / unit).toFixed(decimals)
}
