import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { call } from '../../api/client.ts'
import { keyOf, queryClient, read } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { DEFAULT_SIZE, SIZES, sortOf, type Query } from './list-state.ts'
import type { Resource, Row } from './resource.ts'

export type View = Query & { name: string }
export type ListPreferences = {
  /** The columns in the chosen order; null: the screen's own. */
  columns: { key: string; shown: boolean }[] | null
  views: View[]
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Reads saved preferences defensively, because another release may have written them. */
function readPreferences(kept: unknown): ListPreferences {
  const { columns, views } = record(kept)
  return {
    columns: Array.isArray(columns)
      ? columns.flatMap(one => {
          const { key, shown } = record(one)
          return typeof key === 'string' ? [{ key, shown: shown === true }] : []
        })
      : null,
    views: list(views).flatMap(one => {
      const { name, search, filters, sort, size } = record(one)
      if (typeof name !== 'string') return []
      const { by, order } = record(sort)
      return [
        {
          name,
          search: typeof search === 'string' ? search : '',
          filters: Object.fromEntries(
            Object.entries(record(filters)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
          ),
          sort: typeof by === 'string' && (order === 'asc' || order === 'desc') ? { by, order } : null,
          size: typeof size === 'number' ? size : DEFAULT_SIZE
        }
      ]
    })
  }
}

/** The part of a saved view that this screen still supports, and the names of the rest. */
export function openView<R extends Row>(
  view: View,
  { filters, sort, sizes = SIZES }: Resource<R>
): { query: Query; gone: string[] } {
  const known = Object.entries(view.filters).filter(([key, value]) =>
    filters.some(filter => filter.key === key && filter.accepts(value))
  )
  const kept = Object.fromEntries(known)
  const sorted = view.sort && sortOf(`${view.sort.by}.${view.sort.order}`, sort)
  const gone = Object.keys(view.filters).filter(key => !(key in kept))
  if (view.sort && !sorted) gone.push(view.sort.by)
  const size = sizes.includes(view.size) ? view.size : DEFAULT_SIZE
  return { query: { search: view.search, filters: kept, sort: sorted, size }, gone }
}

/** All columns in the chosen order. New ones follow, removed ones are dropped. */
export function arrange(
  columns: readonly { key: string; optional?: boolean }[],
  chosen: ListPreferences['columns']
): { key: string; shown: boolean }[] {
  const kept = (chosen ?? []).filter(one => columns.some(({ key }) => key === one.key))
  const added = columns.filter(({ key }) => !kept.some(one => one.key === key))
  const all = [...kept, ...added.map(({ key, optional }) => ({ key, shown: !optional }))]
  // If every chosen column was removed, show all.
  return all.some(one => one.shown) ? all : columns.map(({ key }) => ({ key, shown: true }))
}

export type PreferencesChange = (now: ListPreferences) => ListPreferences

/** The saved preferences of the list with this key. */
export const preferencesQuery = (key: string) => ({
  ...read(accounts.preferences, { params: { key: `list.${key}` } }),
  retry: false,
  staleTime: Infinity
})

/** Saves run one after another, each on the result of the previous one. */
let saving: Promise<unknown> = Promise.resolve()
let newest = 0

/**
 * A user's preferences of a list. A change applies to what the server has now, because another tab may have saved a
 * view, and preferences that failed to load must not be overwritten. If saving fails, the change lasts until the page
 * closes.
 */
export function useListPreferences(key: string) {
  const t = useT()
  const id = `list.${key}`
  const { data, isPending } = useQuery(preferencesQuery(key))
  const save = useCallback(
    (change: PreferencesChange) => {
      const params = { key: id }
      const queryKey = keyOf(accounts.preferences, { params })
      queryClient.setQueryData(queryKey, change(readPreferences(queryClient.getQueryData(queryKey))))
      newest += 1
      const mine = newest
      const keep = async () => {
        try {
          const value = change(readPreferences(await call(accounts.preferences, { params })))
          // A later change is already shown.
          if (mine === newest) queryClient.setQueryData(queryKey, value)
          await call(accounts.savePreferences, { params, body: { value } })
        } catch (error) {
          notify('bad', `${t('list.notKept')} ${failureText(error)}`)
        }
      }
      saving = saving.then(keep)
    },
    [id, t]
  )
  return { preferences: readPreferences(data), pending: isPending, save }
}
