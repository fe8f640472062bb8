import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import type { Key } from '../../i18n/account.ts'
import type { Translate } from '../../i18n/words.ts'
import type { Column } from '../../kit/data-table.tsx'
import { money } from '../../kit/money.ts'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import { webAddress } from '../../kit/web-address.ts'
import type { Pending } from '../../kit/payment/pending.ts'
import classes from './proxies.module.css'

type Context = {
  t: Translate<Record<Key, string>>
  selected: number | undefined
  onSelect: (id: number) => void
  onPay: (pending: Pending) => void
  onCancel: (id: number) => void
}

/** An unpaid order whose addresses are still held can be paid until its time is over. */
function payable(order: Order): Pending | null {
  const checkoutUrl = webAddress(order.checkout_url)
  if (order.state !== 'placed' || !checkoutUrl || !order.reserved_until) return null
  const deadline = Date.parse(order.reserved_until)
  return deadline > Date.now() ? { id: order.id, orderId: order.order_id, checkoutUrl, deadline } : null
}

export const orderColumns = ({ t, selected, onSelect, onPay, onCancel }: Context): Column<Order>[] => [
  {
    key: 'order',
    title: t('orders.order'),
    lead: true,
    render: order => (
      <button
        type="button"
        className={classes.order}
        aria-pressed={order.id === selected}
        onClick={() => onSelect(order.id)}
      >
        <strong>{order.product_name}</strong>
        <span>{order.variant_name}</span>
        <span className="mono">{order.order_id}</span>
      </button>
    )
  },
  { key: 'state', title: t('orders.state'), wide: true, render: order => <OrderStateBadge order={order} /> },
  { key: 'rules', title: t('orders.rules'), wide: true, render: order => <Rules names={order.acl_names} /> },
  { key: 'quantity', title: t('orders.quantity'), align: 'end', render: order => order.product_quantity },
  { key: 'amount', title: t('orders.amount'), align: 'end', render: order => money(order.pay_amount ?? order.amount) },
  { key: 'created', title: t('orders.created'), render: order => <Day at={order.created_at} /> },
  {
    key: 'expires',
    title: t('orders.expires'),
    render: order => {
      const pending = payable(order)
      if (pending)
        return (
          <span className={classes.open}>
            <Button
              component="a"
              href={pending.checkoutUrl}
              target="_blank"
              rel="noopener"
              size="compact-sm"
              onClick={() => onPay(pending)}
            >
              {t('orders.pay')}
            </Button>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => onCancel(order.id)}>
              {t('orders.cancel')}
            </Button>
          </span>
        )
      return <Expiry order={order} t={t} />
    }
  }
]

function Expiry({ order, t }: { order: Order; t: Context['t'] }) {
  if (order.grace_until)
    return (
      <>
        {t('orders.renewUntil')} <Ago at={order.grace_until} />
      </>
    )
  // Its time ended with the refund, whatever it would have been.
  if (order.state === 'refunded') return <span className="dim">–</span>
  if (order.expired_at) return <Ago at={order.expired_at} />
  const starts = order.pay_status === 1
  return <span className="dim">{starts ? t('orders.startsWithDelivery') : '–'}</span>
}

function Rules({ names }: { names: string[] }) {
  return (
    <span className={classes.rules} title={names.join(', ')}>
      {names.join(', ') || '–'}
    </span>
  )
}
