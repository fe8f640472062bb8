import type { Order, QueryOf, ReplyOf } from '@netlet/contract'
import { CHECK_SITES, PROXY_STATUSES, type CheckSite, type ProxyStatus } from '@netlet/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { hostPort } from '../../kit/host-port.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { useAddress, type AddressChange } from '../../kit/use-address.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { searchIn, useTyped } from '../../kit/use-typed.ts'

/** The contract's largest page. */
const LARGEST = 10_000
export const SIZES = [10, 20, 50, 100]
/** Milliseconds between polls of an order with a running task, without the change feed. */
const WATCH = 2500

/** A site's answer as one choice: 'answers:google', 'silent:bing'. */
export type SiteFilter = '' | `${'answers' | 'silent'}:${CheckSite}`
export const SITE_FILTERS = CHECK_SITES.flatMap(site => [`answers:${site}`, `silent:${site}`] as const)
export const SORTS = ['id', 'ip', 'google_delay', 'bing_delay', 'amazon_delay'] as const
export type Sort = { by: (typeof SORTS)[number]; order: 'asc' | 'desc' }
const AS_DELIVERED: Sort = { by: 'id', order: 'asc' }
export type Filters = { search: string; status: '' | ProxyStatus; site: SiteFilter }

export const isFiltered = ({ search, status, site }: Filters) => search !== '' || status !== '' || site !== ''
export const statusOf = (text: string): Filters['status'] => PROXY_STATUSES.find(one => one === text) ?? ''
export const siteOf = (text: string): SiteFilter => SITE_FILTERS.find(one => one === text) ?? ''

/** Accept the reply if it has a list, whatever its code. */
const holdsList = (body: Record<string, unknown>) =>
  typeof body['data'] === 'object' && body['data'] !== null && 'proxy_list' in body['data']

function serverQuery({ search, status, site }: Filters, { by, order }: Sort): QueryOf<typeof orders.proxyDetail> {
  const [answer, name] = site.split(':')
  const of = CHECK_SITES.find(one => one === name)
  return {
    search: search || undefined,
    status: status || undefined,
    answers: answer === 'answers' ? of : undefined,
    silent: answer === 'silent' ? of : undefined,
    ...(by === 'id' && order === 'asc' ? {} : { sort_by: by, sort_order: order })
  }
}

/** Parameters about one order's proxies. Removed when another order is selected. */
export const OF_ONE_ORDER = { proxy_page: null, proxy_q: null, proxy_status: null, proxy_site: null, proxy_sort: null }

/** Filters and sort in the address: `proxy_sort=-ip` sorts by address, descending. */
function readQuery(query: URLSearchParams): { filters: Filters; sort: Sort } {
  const sort = query.get('proxy_sort') ?? ''
  const by = SORTS.find(one => one === sort.replace(/^-/, ''))
  return {
    filters: {
      search: searchIn(query.get('proxy_q') ?? ''),
      status: statusOf(query.get('proxy_status') ?? ''),
      site: siteOf(query.get('proxy_site') ?? '')
    },
    sort: by ? { by, order: sort.startsWith('-') ? 'desc' : 'asc' } : AS_DELIVERED
  }
}

/**
 * The filters and sort of an order's proxies, kept in the address. A choice adds a history entry; typing does not, and
 * is written when it pauses. The address also names the order, because the default selection may change.
 */
function useQueryState(order: Order | undefined) {
  const { query, change } = useAddress()
  const { filters, sort } = useMemo(() => readQuery(query), [query])
  const id = order?.id
  const along = useMemo((): AddressChange => (id === undefined ? {} : { order: id }), [id])
  const [typed, type] = useTyped(filters.search, search =>
    change({ ...along, proxy_q: search || null, proxy_page: null })
  )
  const choose = (changes: AddressChange) => change({ ...along, ...changes, proxy_page: null }, { push: true })
  return {
    filters,
    sort,
    along,
    typed,
    type,
    setStatus: (status: Filters['status']) => choose({ proxy_status: status || null }),
    setSite: (site: SiteFilter) => choose({ proxy_site: site || null }),
    setSort: ({ by, order: direction }: Sort) => {
      const text = direction === 'desc' ? `-${by}` : by
      choose({ proxy_sort: text === AS_DELIVERED.by ? null : text })
    },
    clear: () => {
      type('')
      choose({ proxy_q: null, proxy_status: null, proxy_site: null })
    }
  }
}

/** A page of an order's proxies, filtered and sorted. Polls while a task runs. */
export function useProxyList(order: Order | undefined) {
  const interval = usePollInterval(WATCH)
  const { along, ...asked } = useQueryState(order)
  const paging = useAddressPaging(20, { name: 'proxy', sizes: SIZES, along })
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(
      orders.proxyDetail,
      {
        params: { id: order?.id ?? 0 },
        query: { limit: paging.limit, offset: paging.offset, ...serverQuery(asked.filters, asked.sort) }
      },
      { accept: holdsList }
    ),
    enabled: Boolean(order),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.order && isMoving(query.state.data.order) ? interval : false)
  })
  /** The addresses ('ip:port') of all proxies that match, on any page. */
  const addresses = async (): Promise<string[]> => {
    const found: string[] = []
    for (let after: string | undefined = ''; after !== undefined;) {
      const query: QueryOf<typeof orders.proxyDetail> = {
        limit: LARGEST,
        ...(after && { after }),
        ...serverQuery(asked.filters, AS_DELIVERED)
      }
      const page: ReplyOf<typeof orders.proxyDetail> = await call(orders.proxyDetail, {
        params: { id: order?.id ?? 0 },
        query
      })
      found.push(...page.proxy_list.map(({ ip, port }) => hostPort(ip, port)))
      after = page.next ?? undefined
    }
    return found
  }
  const malformed = data !== undefined && !Array.isArray(data.proxy_list)
  return {
    order: data?.order ?? order,
    rows: malformed ? undefined : data?.proxy_list,
    total: malformed ? undefined : data?.total,
    malformed,
    // Without an order, no query runs.
    pending: order !== undefined && isPending,
    stale: isPlaceholderData,
    error: malformed ? new Error('malformed') : error,
    retry: () => void refetch(),
    paging,
    addresses,
    ...asked
  }
}
export type ProxyList = ReturnType<typeof useProxyList>
