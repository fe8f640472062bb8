import type { Order } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { t, useT } from '../../i18n/proxies.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { useLevelWords } from '../../kit/payment/level-price.tsx'
import { checkoutTab, type CheckoutTab } from '../../kit/payment/checkout-tab.ts'
import { webAddress } from '../../kit/web-address.ts'
import { begin, isBegun, takeBack } from './begun-renewals.ts'

/** Paid orders can be renewed until their grace period ends, but not failed or refunded ones. The server decides. */
export function renewable(order: Order | undefined): boolean {
  if (order?.pay_status !== 1 || order.state === 'failed' || order.state === 'refunded') return false
  return order.state !== 'expired' || (order.grace_until !== null && Date.parse(order.grace_until) > Date.now())
}

/** Every visit of a renewal's link creates another checkout that can be paid, so ask before a second one. */
export const mayOpenAnother = (): Promise<boolean> =>
  confirm({ title: t('renew.againTitle'), body: t('renew.againBody') })

/** Renews an order at its own checkout in a new tab. `renewing`: the order whose checkout is being created. */
export function useRenewal() {
  const t = useT()
  const { sentence } = useLevelWords()
  const renew = useMutation({
    mutationFn: ({ id }: { id: number; tab: CheckoutTab; another: boolean }) => call(orders.renew, { params: { id } }),
    onSuccess: ({ checkout_url, days, price, discount }, { tab }) => {
      if (tab.open(checkout_url))
        notify(
          'info',
          price === null
            ? t('proxy.renewOpened', { days })
            : t('proxy.renewPrice', { days, price: sentence(price, discount) })
        )
      // The new tab was blocked, so this tab goes to the checkout. Back returns here.
      else if (webAddress(checkout_url)) window.location.assign(checkout_url)
    },
    onError: (error, { id, tab, another }) => {
      if (!another) takeBack(id)
      tab.close()
      notify('bad', failureText(error, t('proxy.renewFailed')))
    }
  })
  return {
    renewing: renew.isPending ? renew.variables?.id : undefined,
    start: async (order: Order | undefined) => {
      if (!order) return notify('bad', t('proxy.selectFirst'))
      if (renew.isOut()) return
      const another = isBegun(order)
      if (another && !(await mayOpenAnother())) return
      begin(order)
      // Open the tab before the call, within the click.
      renew.mutate({ id: order.id, tab: checkoutTab(t('proxy.renewOpening')), another })
    }
  }
}
