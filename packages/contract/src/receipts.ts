/** A customer's payments for an order, for printing. */
import { z } from 'zod'
import { IdParams, Money, Time } from './shapes.ts'
import { OrderNames } from './order.ts'
import { route } from './route.ts'

/** A line of the platform's order; `amount` is `quantity` times `unit_price`, before discounts. */
export const ReceiptLine = z.object({
  title: z.string(),
  variant: z.string().nullable(),
  quantity: z.number(),
  unit_price: Money,
  amount: Money
})
export type ReceiptLine = z.infer<typeof ReceiptLine>

/** A payment that counted. All amounts are in its currency. */
export const Receipt = z.object({
  id: z.number(),
  kind: z.enum(['purchase', 'renewal']),
  /** The platform's order, such as '#1001'. */
  platform_order: z.string(),
  paid_at: Time,
  /** Days it paid for; null if unknown. */
  days: z.number().nullable(),
  /** The platform's lines at payment; empty for payments older than these records. */
  lines: z.array(ReceiptLine),
  currency: z.string(),
  discount: Money,
  total: Money,
  /** Refunds, oldest first. */
  refunds: z.array(z.object({ at: Time, amount: Money })),
  refunded: Money
})
export type Receipt = z.infer<typeof Receipt>

/** A payment that does not count: under review, ignored or refunded. */
export const UncountedPayment = z.object({
  id: z.number(),
  state: z.enum(['held', 'ignored', 'refunded']),
  kind: z.enum(['purchase', 'renewal']),
  platform_order: z.string(),
  paid_at: Time,
  currency: z.string(),
  total: Money
})
export type UncountedPayment = z.infer<typeof UncountedPayment>

export const Receipts = z.object({
  /** The shop's name. */
  shop: z.string(),
  order_id: z.string(),
  username: z.string(),
  email: z.string(),
  product: z.string(),
  variant: z.string(),
  /** Names of the access rules. */
  rules: z.array(z.string()),
  /** The names in another language, if there are any. The platform words the lines. */
  translations: z.object({ 'zh-CN': OrderNames }).optional(),
  quantity: z.number(),
  /** Oldest first. */
  receipts: z.array(Receipt),
  /** Oldest first. */
  uncounted: z.array(UncountedPayment)
})
export type Receipts = z.infer<typeof Receipts>

export const receiptRoutes = {
  receipts: route('GET', '/api/orders/order_list/:id/receipts/', {
    summary: 'Payments of an order: purchase, renewals, refunds, and payments not counted',
    access: 'user',
    scope: 'read',
    params: IdParams,
    reply: Receipts
  })
}
