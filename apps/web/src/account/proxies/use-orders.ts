import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { numberIn, useAddress } from '../../kit/use-address.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { OF_ONE_ORDER } from './use-proxy-list.ts'

/** Milliseconds between polls of an order with a running task, without the change feed. */
const WATCH = 2500

/**
 * A page of the customer's orders and the selected one: that of the address (`order`), on any page, else the newest on
 * this page that did not end unpaid. `live`: the order just paid, until it is dismissed or the page reloads.
 */
export function useOrders(collection: number | undefined) {
  const interval = usePollInterval(WATCH)
  const { query, change } = useAddress()
  const paging = useAddressPaging(5)
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(orders.list, { query: { limit: paging.limit, offset: paging.offset, product_type: collection } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.data.some(isMoving) ? interval : false)
  })
  const rows = data?.data
  const chosen = numberIn(query, 'order')
  const newest = rows?.find(order => order.state !== 'cancelled' && order.state !== 'timed_out') ?? rows?.[0]
  // Keep the selection while this page of the list is shown, even if the order changes.
  const place = `${paging.limit} ${paging.offset}`
  const [auto, setAuto] = useState<{ place: string; id: number } | null>(null)
  const kept = auto?.place === place ? rows?.find(order => order.id === auto.id) : undefined
  if (newest && !kept && !isPlaceholderData) setAuto({ place, id: newest.id })
  const onPage = rows?.find(order => order.id === chosen)
  const elsewhere = chosen !== undefined && rows !== undefined && !onPage && !isPlaceholderData
  const other = useQuery({ ...read(orders.list, { query: { id: chosen ?? 0, limit: 1 } }), enabled: elsewhere })
  const found = elsewhere ? other.data?.data[0] : undefined

  const isLive = query.get('live') === '1' && chosen !== undefined
  const [live, setLive] = useState<number | null>(null)
  useEffect(() => {
    if (!isLive) return
    setLive(chosen)
    // A reload or a shared link is not a new payment.
    change({ live: null })
  }, [isLive, chosen, change])

  return {
    rows,
    total: data?.total,
    pending: isPending,
    stale: isPlaceholderData,
    error,
    retry: () => void refetch(),
    paging,
    selected: chosen === undefined ? (kept ?? newest) : (onPage ?? found),
    /** The selected order is not known yet. */
    looking: isPending || (elsewhere && other.isPending),
    /** There are or may be orders. */
    hasPanel: (isPending || rows?.length !== 0 || found !== undefined) && !(error && !data),
    select: (id: number) => change({ ...(id === chosen ? {} : OF_ONE_ORDER), order: id }, { push: true }),
    live,
    dismiss: () => setLive(null)
  }
}
