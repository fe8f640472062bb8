import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { useMemo } from 'react'
import type { Resource, Row } from './resource.ts'

export type Sort = { by: string; order: 'asc' | 'desc' }
/** What a user can request of a list. The address and saved views hold it. */
export type Query = { search: string; filters: Record<string, string>; sort: Sort | null; size: number }
export type ListState = Query & {
  /** The filters as the list's call takes them. */
  asked: Record<string, string>
  page: number
  /** The key where the page starts, from the previous page; '' if the page is found by number. */
  after: string
  /** The row whose drawer is open. */
  open: number | null
  /** The open form: 'new', or an action and a row as in 'edit.7'. */
  form: string
  /** The row whose detail view replaces the list. */
  detail: number | null
  /** The bulk run whose progress is shown. */
  run: number | null
}

export const DEFAULT_SIZE = 10
export const SIZES = [10, 20, 50, 100]

/** The filter and page of a bulk run's results. */
export const RESULTS = {
  results: parseAsStringLiteral(['pending', 'succeeded', 'refused'] as const),
  results_page: parseAsInteger.withDefault(1)
}

/** Parameters that every list reads, besides its filters. */
export const FIXED = {
  page: parseAsInteger.withDefault(1),
  size: parseAsInteger.withDefault(DEFAULT_SIZE),
  search: parseAsString,
  sort: parseAsString.withDefault(''),
  after: parseAsString.withDefault(''),
  open: parseAsInteger,
  form: parseAsString.withDefault(''),
  detail: parseAsInteger,
  run: parseAsInteger
}

/** Parses a sort such as 'mount.desc'; null if the resource has no such column. */
export function sortOf(text: string, known: readonly string[]): Sort | null {
  const [by = '', order] = text.split('.')
  return known.includes(by) && (order === 'asc' || order === 'desc') ? { by, order } : null
}
export const sortText = (sort: Sort | null): string => (sort ? `${sort.by}.${sort.order}` : '')

/**
 * A list's state in the address, so that it can be linked and browsed with Back and Forward. Unknown columns and
 * filters in the address are ignored. `search` is the default search.
 */
export function useListState<R extends Row>({ filters, sort, sizes = SIZES }: Resource<R>, search = '') {
  const parsers = useMemo(
    () => ({ ...FIXED, ...Object.fromEntries(filters.map(({ key }) => [key, parseAsString])) }),
    [filters]
  )
  const [raw, setRaw] = useQueryStates(parsers, { history: 'push' })
  return useMemo(() => {
    const chosen: Record<string, string> = {}
    const asked: Record<string, string> = {}
    for (const { key, accepts, asks } of filters) {
      const value = (raw as Record<string, unknown>)[key]
      if (typeof value !== 'string' || !value || !accepts(value)) continue
      chosen[key] = value
      Object.assign(asked, asks ? asks(value) : { [key]: value })
    }
    const state: ListState = {
      page: Math.max(1, raw.page),
      size: sizes.includes(raw.size) ? raw.size : DEFAULT_SIZE,
      search: raw.search ?? search,
      sort: sortOf(raw.sort, sort),
      after: raw.after,
      filters: chosen,
      asked,
      open: raw.open,
      form: raw.form,
      detail: raw.detail,
      run: raw.run
    }
    /** Changes the query and returns to the first page. */
    const ask = (query: Partial<Query>) => {
      const next = { ...state, ...query }
      void setRaw({
        ...Object.fromEntries(filters.map(({ key }) => [key, next.filters[key] || null])),
        search: next.search === search ? null : next.search,
        sort: sortText(next.sort) || null,
        size: next.size,
        page: null,
        after: null
      })
    }
    type Place = Partial<Pick<ListState, 'open' | 'form' | 'detail' | 'run' | 'page' | 'after'>>
    const go = (place: Place, history: 'push' | 'replace' = 'push') => void setRaw(place, { history })
    return { ...state, ask, go }
  }, [raw, setRaw, filters, sort, sizes, search])
}

export type List = ReturnType<typeof useListState>

/** The server's query without the page. */
export const queryOf = ({ search, asked, sort }: Omit<ListState, 'filters'>): Record<string, string> => ({
  ...asked,
  ...(search ? { search } : {}),
  ...(sort ? { sort_by: sort.by, sort_order: sort.order } : {})
})
