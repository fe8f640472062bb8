import type { LevelDiscount, Order } from '@netlet/contract'
import type { OrderNames } from '../../i18n/names.ts'
import { webAddress } from '../web-address.ts'

/** What was ordered, in each language. `amount` is before the level discount. */
type Bought = OrderNames & { quantity: number; amount: string; discount?: LevelDiscount | null }

/** An order awaiting payment in this tab. `orderId` is the public number; `deadline` in milliseconds. */
export type Pending = { id: number; orderId: string; checkoutUrl: string; deadline: number; bought: Bought }

const boughtIn = (order: Order): Bought => ({
  product_name: order.product_name,
  variant_name: order.variant_name,
  acl_names: order.acl_names,
  translations: order.translations,
  quantity: order.product_quantity,
  amount: order.amount,
  discount: order.discount
})

/** An unpaid order can be paid while its addresses are held. @param now milliseconds */
export function payable(order: Order, now: number): Pending | null {
  const checkoutUrl = webAddress(order.checkout_url)
  if (order.state !== 'placed' || !checkoutUrl || !order.reserved_until) return null
  const deadline = Date.parse(order.reserved_until)
  if (deadline <= now) return null
  return { id: order.id, orderId: order.order_id, checkoutUrl, deadline, bought: boughtIn(order) }
}

const KEY = 'netlet-payment'

const isText = (value: unknown): value is string => typeof value === 'string'
const isAmount = (value: unknown): value is string => isText(value) && /^\d+(\.\d{1,2})?$/.test(value)
const isNumber = (value: unknown): value is number => typeof value === 'number'

const areNames = ({ product_name, variant_name, acl_names }: Partial<OrderNames> = {}): boolean =>
  isText(product_name) && isText(variant_name) && Array.isArray(acl_names) && acl_names.every(isText)

const isDiscount = ({ level, discount, discount_type }: Partial<LevelDiscount>): boolean =>
  isNumber(level) && isAmount(discount) && (discount_type === 'amount' || discount_type === 'percent')

function isPending(kept: Partial<Pending> | null): kept is Pending {
  const bought: Partial<Bought> = kept?.bought ?? {}
  return (
    isNumber(kept?.id) &&
    isText(kept.orderId) &&
    isText(kept.checkoutUrl) &&
    isNumber(kept.deadline) &&
    areNames(bought) &&
    (bought.translations === undefined || areNames(bought.translations['zh-CN'])) &&
    isNumber(bought.quantity) &&
    isAmount(bought.amount) &&
    (!bought.discount || isDiscount(bought.discount))
  )
}

/** The payment in progress before a reload, unless its time is over. */
export function pendingPayment(now: number): Pending | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<Pending> | null
    return isPending(kept) && kept.deadline > now ? kept : null
  } catch {
    return null
  }
}

export function keepPayment(pending: Pending | null): void {
  try {
    if (pending) sessionStorage.setItem(KEY, JSON.stringify(pending))
    else sessionStorage.removeItem(KEY)
  } catch {
    // Without storage the dialog does not survive a reload. The order stays in the dashboard.
  }
}
