import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useT } from '../../i18n/proxies.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { EmptyState } from '../../kit/states.tsx'
import { renewable } from './use-renewal.ts'

/** Why an order has no proxies to show, and what to do about it. */
export function NoProxies({ order, onClear }: { order: Order | undefined; onClear: (() => void) | undefined }) {
  const t = useT()
  if (!order) return <EmptyState title={t('proxy.noOrder')} body={t('proxy.noOrderHint')} />
  if (onClear)
    return (
      <EmptyState compact title={t('proxy.noMatch')} body={t('proxy.noMatchHint')}>
        <Button variant="default" onClick={onClear}>
          {t('proxy.clear')}
        </Button>
      </EmptyState>
    )
  const again = <LinkButton to={`/product?id=${order.product_id}`}>{t('proxy.again')}</LinkButton>
  const support = <LinkButton to="/support#contact">{t('proxy.support')}</LinkButton>
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
  if (order.state === 'refunded')
    return (
      <EmptyState title={t('proxy.refunded')} body={t('proxy.refundedHint')}>
        {again}
      </EmptyState>
    )
  if (order.is_expired && renewable(order)) return <EmptyState title={t('proxy.expired')} body={t('proxy.graceHint')} />
  if (order.is_expired)
    return (
      <EmptyState title={t('proxy.expired')} body={t('proxy.expiredHint')}>
        {again}
      </EmptyState>
    )
  if (order.pay_status === 0) return <EmptyState title={t('proxy.unpaid')} body={t('proxy.unpaidHint')} />
  if (isMoving(order)) return <EmptyState title={t('proxy.coming')} body={t('proxy.comingHint')} />
  return (
    <EmptyState title={t('proxy.none')} body={t('proxy.noneHint')}>
      {support}
    </EmptyState>
  )
}

const LinkButton = ({ to, children }: { to: string; children: string }) => (
  <Button component={Link} to={to} variant="default">
    {children}
  </Button>
)
