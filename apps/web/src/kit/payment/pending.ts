import type { LevelDiscount, Order } from '@netlet/contract'
import type { OrderNames } from '../../i18n/names.ts'
import { webAddress } from '../web-address.ts'
import { useLanguage } from '../../i18n/language.ts'
import { timeOfDay, useClock } from '../time.tsx'
import { unitText } from '../money.ts'
import { useEffect, useState } from 'react'
import { onSessionChange } from '../../api/session.ts'

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

/**
 * Until when an unpaid order's addresses are held, and at least how long that is from now: '2:32 PM' and '12 minutes'.
 * @param deadline milliseconds
 */
export function useHeldUntil(deadline: number) {
  const language = useLanguage()
  const minutes = Math.max(0, Math.floor((deadline - useClock()) / 60_000))
  return {
    time: timeOfDay(deadline, language),
    left: unitText(minutes, language, { unit: 'minute', unitDisplay: 'long' })
  }
}

type OpenPayment = { pending: Pending; blocked?: boolean }

/** The open payment dialog's payment, restored after a reload. It closes when the signed-in user changes. */
export function useOpenPayment() {
  const [payment, setPayment] = useState<OpenPayment | null>(() => {
    const pending = pendingPayment(Date.now())
    return pending && { pending }
  })
  useEffect(() => onSessionChange(() => setPayment(null)), [])
  return [payment, setPayment] as const
}

export type CheckoutTab = { open: (url: string) => boolean; close: () => void }

/**
 * Opens a tab for the checkout. Call it in the click handler: after the server's answer the browser blocks it as a
 * pop-up. `open` is false if the browser blocked the tab; offer a link then.
 */
export function checkoutTab(waiting: string): CheckoutTab {
  const tab = window.open('', '_blank')
  if (tab) {
    // Like 'noopener', which would leave us no handle on the tab.
    tab.opener = null
    tab.document.title = waiting
    tab.document.body.textContent = waiting
  }
  return {
    open(url) {
      const address = webAddress(url)
      if (!tab || tab.closed || !address) {
        tab?.close()
        return false
      }
      tab.location.replace(address)
      return true
    },
    close: () => tab?.close()
  }
}
