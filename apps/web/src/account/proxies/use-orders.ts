import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { useAddress } from '../../kit/use-address.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'

/** Milliseconds between two looks at an order that something is being done to, where no change feed tells of it. */
const WATCH = 2500

/** An id as an address writes it; undefined for everything else. */
export const idIn = (query: URLSearchParams, name: string): number | undefined => {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}

/**
 * A page of the customer's orders, and which of them is selected: the one that the address names (`order`), on whatever
 * page it is, else the newest one of the page. `live`: the order that was paid for just now, until it is dismissed or the
 * page is loaded again.
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
  const chosen = idIn(query, 'order')
  const onPage = rows?.find(order => order.id === chosen)
  const elsewhere = chosen !== undefined && rows !== undefined && !onPage && !isPlaceholderData
  const other = useQuery({ ...read(orders.list, { query: { id: chosen ?? 0, limit: 1 } }), enabled: elsewhere })
  const found = elsewhere ? other.data?.data[0] : undefined

  const isLive = query.get('live') === '1' && chosen !== undefined
  const [live, setLive] = useState<number | null>(null)
  useEffect(() => {
    if (!isLive) return
    setLive(chosen)
    // A reload, or a link that is passed on, is no payment.
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
    selected: chosen === undefined ? rows?.[0] : (onPage ?? found),
    /** Which order is selected is not known yet. */
    looking: isPending || (elsewhere && other.isPending),
    /** There are orders, or there may be. */
    hasPanel: (isPending || rows?.length !== 0 || found !== undefined) && !(error && !data),
    select: (id: number) => change({ order: id, proxy_page: null }, { push: id !== chosen }),
    live,
    dismiss: () => setLive(null)
  }
}
