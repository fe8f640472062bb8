import type { Page } from '@netlet/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Endpoint, call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { keyOf, queryClient } from '../../api/query.ts'
import { DEFAULT_SIZE, type ListState, queryOf } from './list-state.ts'
import { preferencesQuery } from './preferences.ts'
import type { Resource, Row } from './resource.ts'

/** Milliseconds between polls while a shown row is about to change. */
const WATCH = 5000

const pageQuery = <R extends Row>(list: Endpoint, query: object) => ({
  queryKey: keyOf(list, { query }),
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    (call as (route: object, input: object, options: object) => Promise<Page<R>>)(list, { query }, { signal })
})

/** Preloads a list's first page and preferences before its screen loads. */
export function readFirstPage(key: string, list: Endpoint): void {
  void queryClient.prefetchQuery(pageQuery(list, { limit: DEFAULT_SIZE, offset: 0 }))
  void queryClient.prefetchQuery(preferencesQuery(key))
}

/** The page of a list for its state. */
export function useListPage<R extends Row>({ list, moving }: Resource<R>, state: ListState) {
  const watch = usePollInterval(WATCH)
  const query = {
    limit: state.size,
    ...(state.after ? { after: state.after } : { offset: (state.page - 1) * state.size }),
    ...queryOf(state)
  }
  return useQuery({
    ...pageQuery<R>(list, query),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (moving && data?.data.some(moving) ? watch : false)
  })
}

const SETTLED_MS = 400

/** A typed value, once it has not changed for a moment. */
export function useSettled<V>(value: V): V {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
