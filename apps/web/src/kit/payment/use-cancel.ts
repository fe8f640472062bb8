import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/product.ts'
import { confirm } from '../confirm.ts'
import { notify } from '../notify.ts'
import { keepPayment, pendingPayment } from './pending.ts'

/** Cancels an unpaid order after a confirmation. */
export function useCancel(onCancelled: () => void = () => undefined) {
  const t = useT()
  const cancel = useMutation({
    mutationFn: (id: number) => call(orders.cancel, { params: { id } }),
    onSuccess: (_, id) => {
      if (pendingPayment(Date.now())?.id === id) keepPayment(null)
      notify('good', t('pay.cancelled'))
      onCancelled()
    },
    onError: error => notify('bad', failureText(error, t('pay.cancelFailed'))),
    // Also after a refusal, because the order may have been paid.
    onSettled: () => refresh(orders.list, orders.proxyDetail, orders.payment, catalog.products)
  })
  return {
    pending: cancel.isPending,
    ask: async (id: number) => {
      const question = { title: t('pay.cancelTitle'), body: t('pay.cancelBody'), danger: true }
      if (await confirm(question)) cancel.mutate(id)
    }
  }
}
