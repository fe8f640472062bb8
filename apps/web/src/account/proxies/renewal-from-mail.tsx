import type { Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSearchParams } from 'react-router'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { renewable, useOrderActions } from './use-order-actions.ts'

/** Reminder mails lead here with `?renew=ID`: that order's renewal starts as soon as its customer says so. */
export function RenewalFromMail() {
  const t = useT()
  const [query, setQuery] = useSearchParams()
  const id = Number(query.get('renew'))
  const asked = Number.isSafeInteger(id) && id > 0
  const { data, error } = useQuery({
    ...read(orders.proxyDetail, { params: { id }, query: { limit: 1 } }),
    enabled: asked
  })
  const order = asked ? data?.order : undefined
  const refused = asked && (error !== null || (order !== undefined && !renewable(order)))
  useEffect(() => {
    if (!refused) return
    // An order that is nobody's, or another one's, is as good as one that cannot be renewed.
    const lost = error instanceof ApiError && error.kind !== 'refused'
    notify('bad', lost ? failureText(error) : t('renew.gone'))
    setQuery({}, { replace: true })
  }, [refused, error, setQuery, t])
  if (!order || refused) return null
  return <Ask key={order.id} order={order} onAnswered={() => setQuery({}, { replace: true })} />
}

function Ask({ order, onAnswered }: { order: Order; onAnswered: () => void }) {
  const t = useT()
  const { startRenewal } = useOrderActions(order)
  useEffect(() => {
    const names = {
      product: order.product_name,
      variant: order.variant_name,
      order: order.order_id,
      days: order.renewal_days
    }
    const question = { title: t('renew.title'), body: t('renew.body', names) }
    const ask = async () => {
      if (await confirm(question)) startRenewal()
      onAnswered()
    }
    void ask()
    // oxlint-disable-next-line react/exhaustive-deps -- asked once for each order
  }, [order.id])
  return null
}
