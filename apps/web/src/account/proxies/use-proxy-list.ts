import type { Order, QueryOf } from '@netlet/contract'
import { CHECK_SITES, PROXY_STATUSES, type CheckSite, type ProxyStatus } from '@netlet/contract/limits'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'

export const SIZES = [10, 20, 50, 100]
/** Milliseconds between two looks at an order that something is being done to, where no change feed tells of it. */
const WATCH = 2500
/** Milliseconds without a key after which the server is asked. */
const PAUSE = 300
/** What the contract takes of a search. */
const LONGEST = 200

/** A site's answer as one choice: 'answers:google', 'silent:bing'. */
export type SiteFilter = '' | `${'answers' | 'silent'}:${CheckSite}`
export const SITE_FILTERS = CHECK_SITES.flatMap(site => [`answers:${site}`, `silent:${site}`] as const)
export const SORTS = ['id', 'ip', 'google_delay', 'bing_delay', 'amazon_delay'] as const
export type Sort = { by: (typeof SORTS)[number]; order: 'asc' | 'desc' }
export type Filters = { search: string; status: '' | ProxyStatus; site: SiteFilter }

const NONE: Filters = { search: '', status: '', site: '' }
export const isFiltered = ({ search, status, site }: Filters) => search.trim() !== '' || status !== '' || site !== ''
export const statusOf = (text: string): Filters['status'] => PROXY_STATUSES.find(one => one === text) ?? ''
export const siteOf = (text: string): SiteFilter => SITE_FILTERS.find(one => one === text) ?? ''

/** The reply counts as long as it holds a list, whatever its code. */
const holdsList = (body: Record<string, unknown>) =>
  typeof body['data'] === 'object' && body['data'] !== null && 'proxy_list' in body['data']

function queryOf({ search, status, site }: Filters, { by, order }: Sort): QueryOf<typeof orders.proxyDetail> {
  const [answer, name] = site.split(':')
  const of = CHECK_SITES.find(one => one === name)
  return {
    search: search.trim().slice(0, LONGEST),
    status: status || undefined,
    answers: answer === 'answers' ? of : undefined,
    silent: answer === 'silent' ? of : undefined,
    ...(by === 'id' && order === 'asc' ? {} : { sort_by: by, sort_order: order })
  }
}

/** A page of an order's proxies: filtered, sorted, and read again while something is being done to them. */
export function useProxyList(order: Order | undefined) {
  const interval = usePollInterval(WATCH)
  const [filters, setFilters] = useState<Filters>(NONE)
  const [sort, setSort] = useState<Sort>({ by: 'id', order: 'asc' })
  const [search] = useDebouncedValue(filters.search, PAUSE)
  const asked = queryOf({ ...filters, search }, sort)
  const paging = useAddressPaging(20, { name: 'proxy', sizes: SIZES, resetKey: JSON.stringify(asked) })
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(
      orders.proxyDetail,
      { params: { id: order?.id ?? 0 }, query: { limit: paging.limit, offset: paging.offset, ...asked } },
      { accept: holdsList }
    ),
    enabled: Boolean(order),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.order && isMoving(query.state.data.order) ? interval : false)
  })
  const malformed = data !== undefined && !Array.isArray(data.proxy_list)
  return {
    order: data?.order ?? order,
    rows: malformed ? undefined : data?.proxy_list,
    total: malformed ? undefined : data?.total,
    malformed,
    // Without an order nothing is asked for.
    pending: order !== undefined && isPending,
    stale: isPlaceholderData,
    error: malformed ? new Error('malformed') : error,
    retry: () => void refetch(),
    paging,
    filters,
    setFilters,
    clear: () => setFilters(NONE),
    sort,
    setSort
  }
}
export type ProxyList = ReturnType<typeof useProxyList>
