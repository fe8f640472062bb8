import type { Order } from '@netlet/contract'

/** What was ordered, as the payment dialog shows it. `rules`: names. */
type Bought = { product: string; variant: string; quantity: number; rules: string[]; amount: string }

/** An order that waits for its payment in this tab. `orderId` is what people see; `deadline`: milliseconds. */
export type Pending = { id: number; orderId: string; checkoutUrl: string; deadline: number; bought: Bought }

export const boughtIn = (order: Order): Bought => ({
  product: order.product_name,
  variant: order.variant_name,
  quantity: order.product_quantity,
  rules: order.acl_names,
  amount: order.amount
})

const KEY = 'netlet-payment'

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'

function isPending(kept: Partial<Pending> | null): kept is Pending {
  const bought: Partial<Bought> = kept?.bought ?? {}
  return (
    isNumber(kept?.id) &&
    isText(kept.orderId) &&
    isText(kept.checkoutUrl) &&
    isNumber(kept.deadline) &&
    isText(bought.product) &&
    isText(bought.variant) &&
    isNumber(bought.quantity) &&
    isText(bought.amount) &&
    Array.isArray(bought.rules) &&
    bought.rules.every(isText)
  )
}

/** The payment that was under way before the page was loaded again, while there is time to make it. */
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
    // Without storage the dialog lives as long as the page; the order stays in the dashboard.
  }
}
