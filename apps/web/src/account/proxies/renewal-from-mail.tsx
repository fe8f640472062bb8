import type { Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { failureText } from '../../i18n/failures.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/proxies.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { renewable, useRenewal } from './use-renewal.ts'

/** Handles `?renew=ID` of reminder mails: renews that order after the customer confirms. */
export function RenewalFromMail() {
  const t = useT()
  const { query, change } = useAddress()
  const id = numberIn(query, 'renew') ?? 0
  const asked = id > 0
  const { data, error } = useQuery({
    ...read(orders.proxyDetail, { params: { id }, query: { limit: 1 } }),
    enabled: asked
  })
  const order = asked ? data?.order : undefined
  const refused = asked && (error !== null || (order !== undefined && !renewable(order)))
  useEffect(() => {
    if (!refused) return
    // A missing or another customer's order is reported like one that cannot be renewed.
    const lost = error instanceof ApiError && error.kind !== 'refused'
    notify('bad', lost ? failureText(error) : t('renew.gone'))
    change({ renew: null })
  }, [refused, error, change, t])
  if (!order || refused) return null
  return <Ask key={order.id} order={order} onAnswered={() => change({ renew: null })} />
}

function Ask({ order, onAnswered }: { order: Order; onAnswered: () => void }) {
  const t = useT()
  const called = useNames().order(order)
  const { start } = useRenewal()
  useEffect(() => {
    const names = {
      product: called.product_name,
      variant: called.variant_name,
      order: order.order_id,
      days: order.renewal_days
    }
    const question = { title: t('renew.title'), body: t('renew.body', names) }
    const ask = async () => {
      if (await confirm(question)) void start(order)
      onAnswered()
    }
    void ask()
    // oxlint-disable-next-line react/exhaustive-deps -- asked once for each order
  }, [order.id])
  return null
}
