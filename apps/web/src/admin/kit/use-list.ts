import { keepPreviousData, onlineManager, useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { Page } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { keyOf } from '../../api/query.ts'
import { askedOf, type ListState } from './list-state.ts'
import type { Resource, Row } from './resource.ts'

/** Milliseconds between two looks while a row that is shown will change by itself. */
const WATCH = 5000

/** The page of a list that its state asks for. */
export function useListPage<R extends Row>({ list, moving }: Resource<R>, state: ListState) {
  const watch = usePollInterval(WATCH)
  const query = {
    limit: state.size,
    ...(state.after ? { after: state.after } : { offset: (state.page - 1) * state.size }),
    ...askedOf(state)
  }
  return useQuery({
    queryKey: keyOf(list, { query }),
    queryFn: ({ signal }) =>
      (call as (route: object, input: object, options: object) => Promise<Page<R>>)(list, { query }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (moving && data?.data.some(moving) ? watch : false)
  })
}

/** Whether the browser has a connection at all. */
export const useOnline = () =>
  useSyncExternalStore(
    listener => onlineManager.subscribe(listener),
    () => onlineManager.isOnline()
  )
