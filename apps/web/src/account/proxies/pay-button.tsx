import { Button, type ButtonProps } from '@mantine/core'
import { useT } from '../../i18n/proxies.ts'
import type { Pending } from '../../kit/payment/pending.ts'

type Props = ButtonProps & { pending: Pending; onPay: (pending: Pending) => void }

/** Opens an order's checkout in a new tab; `onPay` starts watching the payment. */
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
