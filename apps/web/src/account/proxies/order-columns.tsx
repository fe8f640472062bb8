import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import type { Names } from '../../i18n/names.ts'
import type { T } from '../../i18n/proxies.ts'
import type { Column } from '../../kit/data-table.tsx'
import { useClock } from '../../kit/clock.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { chargedFor, useLevelWords } from '../../kit/payment/level-price.tsx'
import { payable, type Pending } from '../../kit/payment/pending.ts'
import { Day } from '../../kit/time.tsx'
import { Expiry } from './expiry.tsx'
import { OrderLabel } from './order-label.tsx'
import classes from './orders.module.css'
import { PayButton } from './pay-button.tsx'
import { Rules } from './rules.tsx'
import { renewable } from './use-renewal.ts'

type Context = {
  t: T
  names: Names
  selected: number | undefined
  picked: ReadonlyMap<number, Order>
  renewing: number | undefined
  onSelect: (id: number) => void
  onPick: (order: Order) => void
  onRenew: (order: Order) => void
  onPay: (pending: Pending) => void
  onCancel: (id: number) => void
}

export const orderColumns = (context: Context): Column<Order>[] => {
  const { t, names, selected, onSelect } = context
  return [
    {
      key: 'order',
      title: t('orders.order'),
      lead: true,
      render: order => (
        <span className={classes.order}>
          <Pick order={order} context={context} />
          <span className={classes.names}>
            <button
              type="button"
              className={classes.select}
              aria-pressed={order.id === selected}
              onClick={() => onSelect(order.id)}
            >
              <strong>{names.order(order).product_name}</strong>
              <span>{names.order(order).variant_name}</span>
            </button>
            <span className={classes.second}>
              <OrderLabel order={order} />
              <span className={classes.number}>
                <span className="mono">{order.order_id}</span> · <Day at={order.created_at} />
              </span>
            </span>
          </span>
        </span>
      )
    },
    { key: 'state', title: t('orders.state'), render: order => <OrderStateBadge order={order} /> },
    { key: 'expires', title: t('orders.expires'), render: order => <Expiry order={order} /> },
    { key: 'rules', title: t('orders.rules'), render: order => <Rules names={names.order(order).acl_names} /> },
    {
      key: 'quantity',
      title: t('orders.quantity'),
      align: 'end',
      render: order => numberText(order.product_quantity)
    },
    { key: 'amount', title: t('orders.amount'), align: 'end', render: order => <Amount order={order} /> },
    {
      key: 'actions',
      title: t('orders.actions'),
      hidden: true,
      bare: true,
      align: 'end',
      render: order => <Actions order={order} context={context} />
    }
  ]
}

/** The sum of all payments; without one, the amount to pay. */
function Amount({ order: { pay_amount, amount, discount } }: { order: Order }) {
  const { note, short } = useLevelWords()
  if (pay_amount !== null) return money(pay_amount)
  return (
    <span title={note(amount, discount)}>
      {money(chargedFor(amount, discount))}
      {discount && <span className={classes.note}>{short(discount)}</span>}
    </span>
  )
}

function Pick({ order, context: { t, picked, onPick } }: { order: Order; context: Context }) {
  return (
    <label className={classes.pick}>
      <input
        type="checkbox"
        checked={picked.has(order.id)}
        disabled={!renewable(order)}
        aria-label={t('orders.pick', { order: order.order_id })}
        onChange={() => onPick(order)}
      />
    </label>
  )
}

function Actions({ order, context }: { order: Order; context: Context }) {
  const { t, renewing, onRenew, onPay, onCancel } = context
  const pending = payable(order, useClock())
  if (pending)
    return (
      <span className={classes.actions}>
        <PayButton pending={pending} size="xs" className={classes.main} onPay={onPay} />
        <Button variant="subtle" color="gray" size="xs" className={classes.main} onClick={() => onCancel(order.id)}>
          {t('orders.cancel')}
        </Button>
      </span>
    )
  if (!renewable(order)) return null
  return (
    <span className={classes.actions}>
      <Button
        variant="default"
        size="xs"
        className={classes.main}
        leftSection={<IconRefresh size={15} aria-hidden />}
        aria-label={t('orders.renewOf', { order: order.order_id })}
        loading={renewing === order.id}
        onClick={() => onRenew(order)}
      >
        {t('proxy.renew')}
      </Button>
    </span>
  )
}
