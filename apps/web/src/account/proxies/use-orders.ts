import type { Order, QueryOf } from '@netlet/contract'
import { ORDER_STATES, type OrderState } from '@netlet/contract/states'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { numberIn, useAddress, type AddressChange } from '../../kit/use-address.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { searchIn, useTyped } from '../../kit/use-typed.ts'
import { OF_ONE_ORDER } from './use-proxy-list.ts'

/** Milliseconds between polls of an order with a running task, without the change feed. */
const WATCH = 2500

const ORDER_SORTS = {
  newest: { sort_by: 'id', sort_order: 'desc' },
  oldest: { sort_by: 'id', sort_order: 'asc' },
  amount: { sort_by: 'amount', sort_order: 'desc' },
  expires: { sort_by: 'expired_at', sort_order: 'asc' }
} as const
export type OrderSort = keyof typeof ORDER_SORTS

/** `all`: sorted by their end, orders that ended long ago would come first. */
const SORTS_OF = {
  all: ['newest', 'oldest', 'amount'],
  expiring: ['expires', 'newest', 'oldest', 'amount']
} as const satisfies Record<string, readonly [OrderSort, ...OrderSort[]]>

/** `from` and `until`: days such as '2026-03-01', in the browser's time zone, both included; '' for none. */
type OrderFilters = { search: string; state: '' | OrderState; from: string; until: string }

/** A day that exists, and that the server takes in any time zone. */
function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) && text > '1971' && text < '9000' ? new Date(text) : null
  return at !== null && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}
export const dayIn = (text: string): string => (isDay(text) ? text : '')
export const stateIn = (text: string): OrderFilters['state'] => ORDER_STATES.find(one => one === text) ?? ''

/** The first instant of a day here, or of one `later`. */
function startOf(day: string, later = 0): string {
  const at = new Date(`${day}T00:00`)
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

/** The address of a pasted proxy: from '203.0.113.5:3128:user:password' or 'http://user:password@[2001:db8::5]:3128'. */
const PASTED = /(?:^|@|\/)(?:(\d{1,3}(?:\.\d{1,3}){3}):\d|\[([\da-f:.]+)\])/i
/** Its password must not get into the address bar. */
export const searchOf = (typed: string): string => {
  const [, ipv4, ipv6] = PASTED.exec(typed.trim()) ?? []
  return ipv4 ?? ipv6 ?? searchIn(typed)
}

/** Parameters that belong to other rows than the new ones. */
const FRESH = { ...OF_ONE_ORDER, order: null, page: null }

/** Search, filters, sort and tab of the list, kept in the address. A choice adds a history entry, typing does not. */
function useOrderQuery() {
  const { query, change } = useAddress()
  const view: keyof typeof SORTS_OF = query.get('show') === 'expiring' ? 'expiring' : 'all'
  const sorts: readonly OrderSort[] = SORTS_OF[view]
  const sort = sorts.find(one => one === query.get('sort')) ?? SORTS_OF[view][0]
  const filters: OrderFilters = {
    search: searchIn(query.get('q') ?? ''),
    state: stateIn(query.get('state') ?? ''),
    from: dayIn(query.get('from') ?? ''),
    until: dayIn(query.get('until') ?? '')
  }
  const { search, state, from, until } = filters
  const isFiltered = Object.values(filters).some(Boolean)
  const [typed, type] = useTyped(search, wanted => change({ ...FRESH, q: wanted || null }), searchOf)
  const choose = (changes: AddressChange) => change({ ...FRESH, ...changes }, { push: true })
  const asked: QueryOf<typeof orders.list> = {
    search: search || undefined,
    state: state || undefined,
    placed_from: from ? startOf(from) : undefined,
    placed_until: until ? startOf(until, 1) : undefined,
    expiring: view === 'expiring' ? '1' : undefined,
    ...(sort === 'newest' ? {} : ORDER_SORTS[sort])
  }
  return {
    view,
    filters,
    /** Filters besides the search. */
    active: [state, from, until].filter(Boolean).length,
    isFiltered,
    /** Some of the orders may not be listed. */
    isNarrowed: isFiltered || view !== 'all',
    sort,
    sorts,
    asked,
    typed,
    type,
    filter: (part: Partial<Record<keyof Omit<OrderFilters, 'search'>, string>>) =>
      choose(Object.fromEntries(Object.entries(part).map(([name, value]) => [name, value || null]))),
    setSort: (next: OrderSort) => choose({ sort: next === SORTS_OF[view][0] ? null : next }),
    setView: (next: typeof view) => choose({ show: next === 'all' ? null : next, sort: null }),
    clear: () => {
      type('')
      choose({ q: null, state: null, from: null, until: null })
    }
  }
}

/**
 * A page of the customer's orders and the selected one: that of the address (`order`), on any page, else the newest on
 * this page that did not end unpaid. `live`: the order just paid, until it is dismissed or the page reloads.
 */
export function useOrders(collection: number | undefined) {
  const interval = usePollInterval(WATCH)
  const { query, change } = useAddress()
  const { asked, ...list } = useOrderQuery()
  const paging = useAddressPaging(5)
  const scope = { product_type: collection }
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(orders.list, { query: { limit: paging.limit, offset: paging.offset, ...scope, ...asked } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.data.some(isMoving) ? interval : false)
  })
  const rows = data?.data
  const soon = useQuery({
    ...read(orders.list, { query: { limit: 1, ...scope, expiring: '1' } }),
    enabled: Boolean(rows?.length) || list.isNarrowed
  })
  const chosen = numberIn(query, 'order')
  const newest = rows?.find(order => order.state !== 'cancelled' && order.state !== 'timed_out') ?? rows?.[0]
  // Keep the selection while this page of the list is shown, even if the order changes.
  const place = useMemo(() => JSON.stringify([paging.limit, paging.offset, asked]), [paging, asked])
  const [auto, setAuto] = useState<{ place: string; id: number } | null>(null)
  const kept = auto?.place === place ? rows?.find(order => order.id === auto.id) : undefined
  if (newest && !kept && !isPlaceholderData) setAuto({ place, id: newest.id })
  const onPage = rows?.find(order => order.id === chosen)
  const elsewhere = chosen !== undefined && rows !== undefined && !onPage && !isPlaceholderData
  const other = useQuery({ ...read(orders.list, { query: { id: chosen ?? 0, limit: 1 } }), enabled: elsewhere })
  const found: Order | undefined = elsewhere ? other.data?.data[0] : undefined

  const isLive = query.get('live') === '1' && chosen !== undefined
  const [live, setLive] = useState<number | null>(null)
  useEffect(() => {
    if (!isLive) return
    setLive(chosen)
    // A reload or a shared link is not a new payment.
    change({ live: null })
  }, [isLive, chosen, change])

  return {
    ...list,
    rows,
    total: data?.total,
    /** The customer has no orders here, so there is nothing to filter. */
    hasNone: rows?.length === 0 && !list.isNarrowed && !isPlaceholderData,
    /** How many orders expire soon; undefined while loading. */
    expiring: soon.data?.total,
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
export type OrderList = ReturnType<typeof useOrders>
