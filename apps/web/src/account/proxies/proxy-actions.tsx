import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconArrowsExchange, IconFileInvoice, IconKey, IconRefresh } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useT } from '../../i18n/proxies.ts'
import { mayAsk } from '../../kit/order-may.ts'
import { ClientAccessButton } from './client-access.tsx'
import classes from './panel.module.css'
import type { useOrderTasks } from './use-order-tasks.ts'
import { renewable, useRenewal } from './use-renewal.ts'

type Props = { order: Order | undefined; loading: boolean; tasks: ReturnType<typeof useOrderTasks> }

/** What can be done with the order itself. */
export function OrderActions({ order, loading, tasks }: Props) {
  const t = useT()
  const { renewing, start } = useRenewal()
  const own = [
    { task: 'change', left: order?.changes_left, icon: IconArrowsExchange },
    { task: 'reset', left: order?.resets_left, icon: IconKey }
  ] as const
  return (
    <div className={classes.actions}>
      <Button
        variant="default"
        size="sm"
        leftSection={<IconRefresh size={16} aria-hidden />}
        disabled={loading || (order !== undefined && !renewable(order))}
        loading={order !== undefined && renewing === order.id}
        onClick={() => start(order)}
      >
        {t('proxy.renew')}
      </Button>
      <ClientAccessButton order={order} />
      {order &&
        own.map(({ task, left, icon: Icon }) =>
          // Not allowed by the operator, or used up: the order does not say which.
          left === 0 || left === undefined ? null : (
            <Button
              key={task}
              variant="default"
              size="sm"
              leftSection={<Icon size={16} aria-hidden />}
              disabled={!mayAsk(order, task)}
              loading={tasks.out === task}
              onClick={() => void tasks.ask(task)}
            >
              {t(`${task}.do`)}{' '}
              {left !== null && <span className={classes.left}>{t('change.leftShort', { left })}</span>}
            </Button>
          )
        )}
      {order?.pay_status === 1 && (
        <Button
          component={Link}
          to={`/dashboard/index/receipts/${order.id}`}
          variant="default"
          size="sm"
          leftSection={<IconFileInvoice size={16} aria-hidden />}
        >
          {t('proxy.receipts')}
        </Button>
      )}
    </div>
  )
}
