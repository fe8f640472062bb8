import type { Order, OrderState } from '@netlet/contract'
import { isServed } from '@netlet/contract/states'
import { useT as useAccountT } from '../i18n/account.ts'
import { useClock } from './time.tsx'
import { orderFailure } from './order-obstacles.ts'
import classes from './order-state.module.css'
import { StateBadge, StateWithDetails, type Tone } from './state-badge.tsx'

const tones: Record<OrderState, Tone> = {
  placed: 'wait',
  timed_out: 'off',
  cancelled: 'off',
  paid: 'busy',
  delivering: 'busy',
  partly_delivered: 'busy',
  delivered: 'good',
  expired: 'off',
  failed: 'bad',
  refunded: 'off'
}

/** A task runs or will start by itself, so what is shown will change. */
export const isMoving = (order: Order) =>
  order.task !== null ||
  ((order.state === 'paid' || order.state === 'delivering' || order.state === 'partly_delivered') &&
    order.delivery_num < order.proxy_num)

/** Compare with the clock: the expiry job runs slightly later, and the order may have been read earlier. */
function shownState({ state, is_expired, expired_at }: Order, now: number): OrderState {
  const isOver = is_expired || (expired_at !== null && Date.parse(expired_at) <= now)
  return isOver && isServed(state) ? 'expired' : state
}

/** Paid, but nothing was delivered. */
export const isProblem = (order: Order) =>
  order.pay_status === 1 && order.delivery_num === 0 && !order.is_expired && order.state !== 'refunded'

export function OrderStateBadge({ order }: { order: Order }) {
  const t = useAccountT()
  const partly =
    order.pay_status === 1 && order.delivery_num < order.proxy_num && !order.is_expired && order.state !== 'refunded'
  const failure = orderFailure(t, order)
  const state = shownState(order, useClock())
  return (
    <StateWithDetails>
      <StateBadge tone={tones[state]}>{t(`state.${state}`)}</StateBadge>
      {order.payment_pending && <span className={classes.more}>{t('orders.paymentPending')}</span>}
      {order.task && <span className={classes.more}>{t(`task.${order.task}`)}</span>}
      {order.task && order.task_waits && <span className={classes.more}>{t('task.waits')}</span>}
      {order.task && order.task_done !== null && (
        <span className={classes.more}>
          <progress value={order.task_done} max={order.delivery_num} aria-label={t(`task.${order.task}`)} />
          {order.task_done}/{order.delivery_num}
        </span>
      )}
      {partly && (
        <span className={classes.more}>
          <progress value={order.delivery_num} max={order.proxy_num} aria-label={t('orders.delivered')} />
          {order.delivery_num}/{order.proxy_num}
        </span>
      )}
      {failure && (
        <span className={`bad size-label ${classes.reason}`} style={{ maxWidth: '16rem' }}>
          {failure}
        </span>
      )}
    </StateWithDetails>
  )
}
