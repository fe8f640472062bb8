/** An order that waits for its payment in this tab. `orderId` is what people see; `deadline`: milliseconds. */
export type Pending = { id: number; orderId: string; checkoutUrl: string; deadline: number }

const KEY = 'netlet-payment'

/** The payment that was under way before the page was loaded again, while there is time to make it. */
export function pendingPayment(now: number): Pending | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Partial<Pending> | null
    if (typeof kept?.id !== 'number' || typeof kept.orderId !== 'string' || typeof kept.checkoutUrl !== 'string')
      return null
    if (typeof kept.deadline !== 'number' || kept.deadline <= now) return null
    return { id: kept.id, orderId: kept.orderId, checkoutUrl: kept.checkoutUrl, deadline: kept.deadline }
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
