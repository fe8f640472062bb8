import type { Order } from '@netlet/contract'
import { useEffect, useState } from 'react'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { onSessionChange } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { t, useT } from '../../i18n/proxies.ts'
import { confirm } from '../../kit/confirm.ts'
import { useDraft } from '../../kit/draft.ts'
import { notify } from '../../kit/notify.ts'
import { type CheckoutTab, checkoutTab } from '../../kit/payment/pending.ts'
import { useLevelWords } from '../../kit/level-price.tsx'
import { webAddress } from '../../kit/web-address.ts'

/** Paid orders can be renewed until their grace period ends, but not failed or refunded ones. The server decides. */
export function renewable(order: Order | undefined): boolean {
  if (order?.pay_status !== 1 || order.state === 'failed' || order.state === 'refunded') return false
  return order.state !== 'expired' || (order.grace_until !== null && Date.parse(order.grace_until) > Date.now())
}

/** Every visit of a renewal's link creates another checkout that can be paid, so ask before a second one. */
export const mayOpenAnother = ({ payment_pending }: Order): Promise<boolean> =>
  confirm({ title: t('renew.againTitle'), body: t(payment_pending ? 'renew.pendingBody' : 'renew.againBody') })

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
      if (another && !(await mayOpenAnother(order))) return
      begin(order)
      // Open the tab before the call, within the click.
      renew.mutate({ id: order.id, tab: checkoutTab(t('proxy.renewOpening')), another })
    }
  }
}

/** Orders to renew together, as they were then, and those whose checkout was opened. */
export type Renewals = { orders: Order[]; opened: number[] }

const NONE: Renewals = { orders: [], opened: [] }

/** The renewals of the open dialog, restored after a reload. It closes when the signed-in user changes. */
export function useRenewals() {
  const draft = useDraft('renewals', NONE)
  const [renewals, setRenewals] = useState(() => {
    const kept = { ...NONE, ...draft.kept }
    return kept.orders.length > 0 ? kept : null
  })
  useEffect(() => onSessionChange(() => setRenewals(null)), [])
  const renew = (next: Renewals | null) => {
    if (next) draft.keep(next)
    else draft.forget()
    setRenewals(next)
  }
  return [renewals, renew] as const
}

/** Shared by all tabs, because a checkout in any of them can be paid. */
const KEY = 'netlet-renewals-begun'
/** Milliseconds for which a checkout counts as open, because we cannot see its tab close. */
const LIFE = 86_400_000

type Begun = { id: number; uid: number; was: string; at: number }

/** Changes with a payment: a delivered order gets a new end, one in delivery a new sum. */
const paidState = ({ expired_at, pay_amount }: Order) => `${expired_at} ${pay_amount}`

function read(): Begun[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    if (!Array.isArray(kept)) return []
    const rows = kept.filter((row): row is Begun => typeof row === 'object' && row !== null)
    return rows.filter(({ at }) => typeof at === 'number' && Math.abs(Date.now() - at) < LIFE)
  } catch {
    return []
  }
}

function keep(rows: Begun[]): void {
  try {
    if (rows.length > 0) localStorage.setItem(KEY, JSON.stringify(rows))
    else localStorage.removeItem(KEY)
  } catch {
    // Without storage there is no warning.
  }
}

/** Is a renewal's payment on its way, or was its checkout opened in this browser and not paid since? */
export const isBegun = (order: Order): boolean =>
  order.payment_pending ||
  read().some(({ id, uid, was }) => id === order.id && uid === order.uid && was === paidState(order))

export const begin = (order: Order): void =>
  keep([
    ...read().filter(({ id }) => id !== order.id),
    { id: order.id, uid: order.uid, was: paidState(order), at: Date.now() }
  ])

/** Call it if no checkout was opened and none was open before. */
const takeBack = (orderId: number): void => keep(read().filter(({ id }) => id !== orderId))
