/** What the settlement of a purchase and that of a renewal work with. */
import type { Settings } from '@netlet/contract'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { AppContext } from '../../infra/context.ts'
import type { OrderRow } from '../orders/index.ts'
import type { PaymentRow } from './rows.ts'

export type Settling = Pick<AppContext, 'secrets' | 'config'>

export type Settled = { order: OrderRow; paid: PaidOrder; payment: PaymentRow; settings: Settings }

/** The promo codes that a payment names, as `useCoupons` takes them. */
export const codesOf = ({ id: payment, discount_codes }: PaidOrder): { codes: string[]; payment: string } => ({
  codes: discount_codes.map(({ code }) => code),
  payment
})

/** A payment as orders know it. */
export const detailsOf = ({ amount, platformOrderId, platformOrderNumber }: PaymentRow) => ({
  amount,
  platformOrderId,
  platformOrderNumber
})
