import { Button } from '@mantine/core'
import type { Order } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconArrowsExchange, IconFileInvoice, IconKey, IconRefresh, IconShieldLock } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Key, type T, useT } from '../../i18n/proxies.ts'
import { ClientAccessDialog } from '../../kit/client-access-dialog.tsx'
import { hasProxies, isRunning, type Obstacle, whyNotAsk } from '../../kit/order-obstacles.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import classes from './panel.module.css'
import { renewable, useRenewal } from './use-renewal.ts'
import { ApiError, call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'

type Props = { order: Order | undefined; loading: boolean; tasks: ReturnType<typeof useOrderTasks> }

/** Reasons for which an order is not served and cannot be changed. */
const UNSERVED: ReadonlySet<Obstacle> = new Set(['notPaid', 'refunded', 'over'])

/** Why the customer cannot start a task now: another one runs, or the delivery is not complete. */
export const whyNotNow = (order: Order, task: 'check' | 'change' | 'reset', t: T): string | undefined => {
  const why = whyNotAsk(order, task)
  return why === 'busy' || why === 'underway' ? t(`proxy.why.${why}`) : undefined
}

/** Actions on the order itself. */
export function OrderActions({ order, loading, tasks }: Props) {
  const t = useT()
  const { renewing, start } = useRenewal()
  const own = [
    { task: 'change', left: order?.changes_left, most: order?.changes_per_term, icon: IconArrowsExchange },
    { task: 'reset', left: order?.resets_left, most: order?.resets_per_term, icon: IconKey }
  ] as const
  return (
    <div className={classes.actions}>
      <Button
        variant="default"
        size="sm"
        leftSection={<IconRefresh size={16} aria-hidden />}
        disabled={loading || (order !== undefined && !renewable(order))}
        loading={order !== undefined && renewing === order.id}
        onClick={() => void start(order)}
      >
        {t('proxy.renew')}
      </Button>
      <ClientAccessButton order={order} />
      {order &&
        own.map(({ task, left, most, icon: Icon }) => {
          const why = whyNotAsk(order, task)
          // Hide it if the operator does not allow it or the order is not served.
          if (most === 0 || most === undefined || !isRunning(order) || (why && UNSERVED.has(why))) return null
          const usedUp = left === 0 && most !== null
          return (
            <UnavailableHint key={task} why={usedUp ? t(`${task}.usedUp`, { most }) : whyNotNow(order, task, t)}>
              <Button
                variant="default"
                size="sm"
                leftSection={<Icon size={16} aria-hidden />}
                disabled={why === 'noProxies' && !usedUp}
                loading={tasks.out === task}
                onClick={() => void tasks.ask(task)}
              >
                {t(`${task}.do`)}{' '}
                {left !== null && (
                  <span className="dim" style={{ marginInlineStart: '0.4rem', fontWeight: 400 }}>
                    {t('change.leftShort', { left: left ?? 0 })}
                  </span>
                )}
              </Button>
            </UnavailableHint>
          )
        })}
      {order?.pay_status === 1 && (
        <Button
          component={Link}
          to={pageAt('receipts', { order: order.id })}
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

/** The button and dialog for how clients authenticate at an order's proxies. */
export function ClientAccessButton({ order }: { order: Order | undefined }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<IconShieldLock size={16} aria-hidden />}
        disabled={!order || !hasProxies(order)}
        onClick={() => setOpen(true)}
      >
        {t('clients.open')}
      </Button>
      {order && open && <ClientAccessDialog orderId={order.id} onClose={() => setOpen(false)} />}
    </>
  )
}

const CALLS = { check: orders.check, change: orders.change, reset: orders.resetPassword } as const
export type OwnTask = keyof typeof CALLS

const words: Record<OwnTask, { started: Key; failed: Key }> = {
  check: { started: 'proxy.checking', failed: 'proxy.checkFailed' },
  change: { started: 'change.started', failed: 'change.failed' },
  reset: { started: 'reset.started', failed: 'reset.failed' }
}

/** Starts a customer's task on an order. `refusal`: why the last one did not start, shown beside the buttons. */
export function useOrderTasks(order: Order | undefined) {
  const t = useT()
  const [refusal, setRefusal] = useState<string | null>(null)
  const begin = useMutation({
    mutationFn: (task: OwnTask) => {
      if (!order) throw new Error(t('proxy.selectFirst'))
      setRefusal(null)
      return call(CALLS[task], { params: { id: order.id } })
    },
    onSuccess: (_, task) => notify('info', t(words[task].started)),
    onError: (error, task) => {
      // A refusal (another task runs, or the quota is used up) concerns this order and stays visible.
      if (error instanceof ApiError && error.kind === 'refused') setRefusal(failureText(error, t(words[task].failed)))
      else notify('bad', failureText(error, error instanceof ApiError ? t(words[task].failed) : error.message))
    },
    // Also after a refusal, because the page may not know of a running task.
    onSettled: () => refresh(orders.list, orders.proxyDetail)
  })
  const ask = async (task: 'change' | 'reset') => {
    if (!order) return begin.mutate(task)
    const left = task === 'change' ? order.changes_left : order.resets_left
    const body = [
      t(`${task}.body`, { count: order.delivery_num }),
      ...(left === null ? [] : [t('change.left', { left })])
    ].join('\n')
    if (await confirm({ title: t(`${task}.title`), body, danger: true })) begin.mutate(task)
  }
  return { refusal, out: begin.isPending ? begin.variables : undefined, check: () => begin.mutate('check'), ask }
}
