import type { Order } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/proxies.ts'
import { notify } from '../../kit/notify.ts'

/** Saves a customer's own words for an order: its label or its note. An empty text takes them away. */
export function useOrderLabel(order: Order, field: 'label' | 'note', onSaved: () => void) {
  const t = useT()
  return useMutation({
    mutationFn: (text: string) => call(orders.label, { params: { id: order.id }, body: { [field]: text } }),
    onSuccess: async () => {
      // Shown before the field closes, so that the former text does not come up in between.
      await refresh(orders.list, orders.proxyDetail)
      notify('good', t(`${field}.saved`))
      onSaved()
    },
    onError: error => notify('bad', failureText(error, t(`${field}.failed`)))
  })
}
