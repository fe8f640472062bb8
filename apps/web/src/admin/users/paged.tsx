import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsInteger, useQueryState } from 'nuqs'
import type { Page } from '@netlet/contract'
import { call, type Endpoint } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { useT, type Key } from '../../i18n/admin.ts'
import { DataTable, type Column } from '../kit/index.ts'

const SIZE = 10

type Props<Row> = {
  /** Names the tab's words: `users.tab.<name>`, `users.none.<name>`. */
  name: 'orders' | 'payments' | 'points' | 'logins' | 'tickets' | 'audit'
  route: Endpoint
  params?: object
  query?: object
  columns: Column<Row>[]
  /** Rows that need somebody's attention. */
  problem?: (row: Row) => boolean
}

/** A list of what is a user's, ten a page; the page is in the address. */
export function Paged<Row extends { id: number }>({ name, route, params, query, columns, problem }: Props<Row>) {
  const t = useT()
  const [at, setAt] = useQueryState('page', parseAsInteger.withDefault(1).withOptions({ history: 'push' }))
  const page = Math.max(1, at)
  const input = { ...(params && { params }), query: { ...query, limit: SIZE, offset: (page - 1) * SIZE } }
  const { data, isPending, error, refetch } = useQuery({
    queryKey: keyOf(route, input),
    queryFn: ({ signal }) =>
      (call as (route: Endpoint, input: object, options: object) => Promise<Page<Row>>)(route, input, { signal }),
    placeholderData: keepPreviousData
  })
  const setPage = (next: number | ((page: number) => number)) =>
    void setAt(typeof next === 'function' ? next(page) : next)
  return (
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
      paging={{ page, size: SIZE, limit: SIZE, offset: (page - 1) * SIZE, setPage, setSize: () => undefined }}
      total={data?.total}
    />
  )
}
