import type { Order } from '@netlet/contract'
import { Button, type ButtonProps } from '@mantine/core'
import { useT } from '../../i18n/proxies.ts'
import { boughtIn, type Pending } from '../../kit/payment/pending.ts'
import { webAddress } from '../../kit/web-address.ts'

/** An unpaid order whose addresses are still held can be paid until its time is over. */
export function payable(order: Order): Pending | null {
  const checkoutUrl = webAddress(order.checkout_url)
  if (order.state !== 'placed' || !checkoutUrl || !order.reserved_until) return null
  const deadline = Date.parse(order.reserved_until)
  if (deadline <= Date.now()) return null
  return { id: order.id, orderId: order.order_id, checkoutUrl, deadline, bought: boughtIn(order) }
}

type Props = ButtonProps & { pending: Pending; onPay: (pending: Pending) => void }

/** Leads to an order's checkout in a new tab; `onPay` watches the payment. */
export function PayButton({ pending, onPay, ...button }: Props) {
  const t = useT()
  return (
    <Button
      component="a"
      href={pending.checkoutUrl}
      target="_blank"
      rel="noopener"
      {...button}
      onClick={() => onPay(pending)}
    >
      {t('orders.pay')}
    </Button>
  )
}
