import type { Order } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { toClipboard } from '../../kit/clipboard.ts'
import { notify } from '../../kit/notify.ts'
import { webAddress } from '../../kit/web-address.ts'
import { checkoutTab, type CheckoutTab } from '../../kit/payment/checkout-tab.ts'
import { download, exportFailure, fileName, linesOf } from './export.ts'

/** Milliseconds: a large order takes its time. */
const EXPORT_TIMEOUT = 30_000

/** What was paid can go on, until its grace is over; what failed or went back cannot. The server decides. */
export function renewable(order: Order | undefined): boolean {
  if (order?.pay_status !== 1 || order.state === 'failed' || order.state === 'refunded') return false
  return order.state !== 'expired' || (order.grace_until !== null && Date.parse(order.grace_until) > Date.now())
}

/** Renew, check, copy and export the proxies of one order. */
export function useOrderActions(order: Order | undefined) {
  const t = useT()
  const chosen = () => {
    if (!order) throw new Error(t('proxy.selectFirst'))
    return { params: { id: order.id } }
  }
  const fail = (fallback: string) => (error: unknown) =>
    notify('bad', failureText(error, error instanceof Error && error.message ? error.message : fallback))

  const renew = useMutation({
    mutationFn: (_tab: CheckoutTab) => call(orders.renew, chosen()),
    onSuccess: ({ checkout_url, days }, tab) => {
      if (tab.open(checkout_url)) notify('info', t('proxy.renewOpened', { days }))
      // No tab was let open: this one leads to the checkout, from where the browser's own button leads back.
      else if (webAddress(checkout_url)) window.location.assign(checkout_url)
    },
    onError: (error, tab) => {
      tab.close()
      fail(t('proxy.renewFailed'))(error)
    }
  })
  const check = useMutation({
    mutationFn: () => call(orders.check, chosen()),
    onSuccess: () => {
      notify('info', t('proxy.checking'))
      void refresh(orders.list, orders.proxyDetail)
    },
    onError: fail(t('proxy.detailsFailed'))
  })
  const copy = useMutation({
    mutationFn: async () => linesOf(await call(orders.copyProxies, chosen(), { timeout: EXPORT_TIMEOUT })),
    onSuccess: async lines => {
      const copied = await toClipboard(lines.join('\n'))
      notify(copied ? 'good' : 'bad', copied ? t('copied') : t('copyFailed'))
    },
    onError: fail(t('proxy.copyFailed'))
  })
  const downloading = useMutation({
    mutationFn: async () => {
      const input = chosen()
      const reply = await call(orders.exportProxies, input, { timeout: EXPORT_TIMEOUT })
      download(fileName(reply?.filename, input.params.id), `${linesOf(reply).join('\n')}\n`)
    },
    onError: error => notify('bad', exportFailure(error))
  })
  return {
    renew,
    check,
    copy,
    download: downloading,
    startRenewal: () => {
      // Its tab is opened before the call.
      if (!renew.isOut()) renew.mutate(checkoutTab(t('proxy.renewOpening')))
    }
  }
}
