import type { Order } from '@netlet/contract'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT, type Key } from '../../i18n/proxies.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'

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
