import type { Order } from '@netlet/contract'
import { toCents } from '@netlet/contract/money'
import { pageAt } from '@netlet/contract/pages'
import { Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useT } from '../../i18n/proxies.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { money } from '../../kit/money.ts'
import { momentText, useClock } from '../../kit/time.tsx'
import { useLanguage } from '../../i18n/language.ts'
import { payable, type Pending, useHeldUntil } from '../../kit/payment/pending.ts'
import { useLevelWords } from '../../kit/level-price.tsx'
import { EmptyState } from '../../kit/states.tsx'
import classes from './orders.module.css'
import { renewable, useRenewal } from './use-renewal.ts'

type Props = {
  order: Order | undefined
  /** Clears filters that no proxy matches. */
  onClear: (() => void) | undefined
  onPay: (pending: Pending) => void
}

/** Why an order has no proxies to show, and what to do. */
export function NoProxies({ order, onClear, onPay }: Props) {
  const t = useT()
  const { renewing, start } = useRenewal()
  const now = useClock()
  const pending = order ? payable(order, now) : null
  if (!order)
    return (
      <EmptyState title={t('proxy.noOrder')} body={t('proxy.noOrderHint')}>
        <LinkButton to={pageAt('Proxies')}>{t('proxy.mine')}</LinkButton>
      </EmptyState>
    )
  if (onClear)
    return (
      <EmptyState compact title={t('proxy.noMatch')} body={t('proxy.noMatchHint')}>
        <Button variant="default" onClick={onClear}>
          {t('proxy.clear')}
        </Button>
      </EmptyState>
    )
  const again = <LinkButton to={`${pageAt('product')}?id=${order.product_id}`}>{t('proxy.again')}</LinkButton>
  const support = <LinkButton to={`${pageAt('support')}#contact`}>{t('proxy.support')}</LinkButton>
  if (order.state === 'timed_out' || order.state === 'cancelled')
    return (
      <EmptyState
        title={t(order.state === 'cancelled' ? 'proxy.cancelled' : 'proxy.timedOut')}
        body={t('proxy.timedOutHint')}
      >
        {again}
      </EmptyState>
    )
  if (order.state === 'failed')
    return (
      <EmptyState title={t('proxy.failed')} body={t('proxy.failedHint')}>
        {support}
      </EmptyState>
    )
  if (order.state === 'refunded') return <Refunded order={order}>{isRefundedInPart(order) ? support : again}</Refunded>
  if (order.payment_pending && !pending) return <PaymentPending order={order} />
  if (order.is_expired && order.can_reopen)
    return (
      <EmptyState title={t('proxy.stopped')} body={t('proxy.stoppedHint')}>
        <div className="row" style={{ justifyContent: 'center' }}>
          {support}
          {again}
        </div>
      </EmptyState>
    )
  if (order.is_expired && renewable(order))
    return (
      <EmptyState title={t('proxy.expired')} body={t('proxy.graceHint')}>
        <Button loading={renewing === order.id} onClick={() => void start(order)}>
          {t('proxy.renewThis')}
        </Button>
      </EmptyState>
    )
  if (order.is_expired)
    return (
      <EmptyState title={t('proxy.expired')} body={t('proxy.expiredHint')}>
        {again}
      </EmptyState>
    )
  if (pending) return <Unpaid pending={pending} onPay={onPay} />
  if (order.pay_status === 0) return <EmptyState title={t('proxy.unpaid')} body={t('proxy.unpaidHint')} />
  if (isMoving(order)) return <EmptyState title={t('proxy.coming')} body={t('proxy.comingHint')} />
  return (
    <EmptyState title={t('proxy.none')} body={t('proxy.noneHint')}>
      {support}
    </EmptyState>
  )
}

/** Its renewals were not refunded with it. */
const isRefundedInPart = ({ pay_amount, refunded_amount }: Order) =>
  toCents(refunded_amount) < toCents(pay_amount ?? '0.00')

function Refunded({ order, children }: { order: Order; children: ReactNode }) {
  const t = useT()
  const { pay_amount, refunded_amount, delivered_at } = order
  const body = isRefundedInPart(order)
    ? t('proxy.refundedPart', { refunded: money(refunded_amount), paid: money(pay_amount ?? '0.00') })
    : t(delivered_at ? 'proxy.refundedHint' : 'proxy.refundedEarly')
  return (
    <EmptyState title={t('proxy.refunded')} body={body}>
      {children}
    </EmptyState>
  )
}

function PaymentPending({ order: { grace_until, reserved_until } }: { order: Order }) {
  const t = useT()
  const language = useLanguage()
  const until = grace_until ?? reserved_until
  const held = until && ` ${t('proxy.heldUntil', { date: momentText(until, language) })}`
  return <EmptyState title={t('proxy.paymentPending')} body={t('proxy.paymentPendingHint') + (held ?? '')} />
}

function Unpaid({ pending, onPay }: { pending: Pending; onPay: (pending: Pending) => void }) {
  const t = useT()
  const { amount, discount } = pending.bought
  const price = useLevelWords().sentence(amount, discount)
  return (
    <EmptyState title={t('proxy.unpaid')} body={t('proxy.unpaidUntil', useHeldUntil(pending.deadline))}>
      <div className={classes.unpaid}>
        <p className="num">{t('proxy.unpaidPrice', { amount: price })}</p>
        <PayButton pending={pending} onPay={onPay} />
      </div>
    </EmptyState>
  )
}

const LinkButton = ({ to, children }: { to: string; children: string }) => (
  <Button component={Link} to={to} variant="default">
    {children}
  </Button>
)

type PayButtonProps = ButtonProps & { pending: Pending; onPay: (pending: Pending) => void }

/** Opens an order's checkout in a new tab; `onPay` starts watching the payment. */
export function PayButton({ pending, onPay, ...button }: PayButtonProps) {
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
