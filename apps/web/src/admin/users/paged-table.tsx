import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, useQueryStates } from 'nuqs'
import type { Page } from '@netlet/contract'
import { call, type Endpoint } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { useT, type Key } from '../../i18n/admin.ts'
import { DataTable, Pager, type Column } from '../kit/index.ts'

const SIZE = 10

type Props<Row> = {
  /** The suffix of the tab's words: `users.tab.<name>`, `users.none.<name>`. */
  name: 'orders' | 'payments' | 'points' | 'logins' | 'tickets' | 'audit'
  route: Endpoint
  params?: object
  query?: object
  columns: Column<Row>[]
  /** Marks rows that need attention. */
  problem?: (row: Row) => boolean
}

const ADDRESS = { page: parseAsInteger.withDefault(1), after: parseAsString.withDefault('') }

/** A list of a user's objects, ten a page; the page is in the address. If the total is not exact, pages go by key. */
export function PagedTable<Row extends { id: number }>({ name, route, params, query, columns, problem }: Props<Row>) {
  const t = useT()
  const [at, setAt] = useQueryStates(ADDRESS, { history: 'push' })
  const page = Math.max(1, at.page)
  const offset = (page - 1) * SIZE
  const place = at.after ? { after: at.after } : { offset }
  const input = { ...(params && { params }), query: { ...query, limit: SIZE, ...place } }
  const { data, isPending, error, refetch } = useQuery({
    queryKey: keyOf(route, input),
    queryFn: ({ signal }) =>
      (call as (route: Endpoint, input: object, options: object) => Promise<Page<Row>>)(route, input, { signal }),
    placeholderData: keepPreviousData
  })
  const setPage = (next: number | ((page: number) => number)) =>
    void setAt({ page: typeof next === 'function' ? next(page) : next, after: null })
  const isCounted = data?.total_exact ?? true
  const list = {
    page,
    size: SIZE,
    after: at.after,
    go: ({ page: to = page, after = '' }) => void setAt({ page: to, after }),
    ask: () => undefined
  }
  const table = (
    <DataTable
      label={t(`users.tab.${name}`)}
      columns={columns}
      {...(problem && { problem })}
      rows={data?.data}
      rowKey={row => row.id}
      pending={isPending}
      error={error}
      onRetry={() => void refetch()}
      empty={{ title: t(`users.none.${name}` as Key) }}
      {...(isCounted && {
        paging: { page, size: SIZE, limit: SIZE, offset, setPage, setSize: () => undefined },
        total: data?.total
      })}
    />
  )
  if (isCounted || !data) return table
  return (
    <div className="stack">
      {table}
      <Pager list={list} page={data} sizes={[SIZE]} />
    </div>
  )
}
