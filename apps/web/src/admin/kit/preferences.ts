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
  /** The columns in the order of their choice; null: as the screen declares them. */
  columns: { key: string; shown: boolean }[] | null
  views: View[]
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** What was kept, as far as it is understood: another release of the console may have written it. */
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

/** A saved view as far as this screen still has what it names, and the names of what is gone. */
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

/** All columns in the order of a person's choice: those that are new follow, those that are gone are left out. */
export function arrange(
  columns: readonly { key: string; optional?: boolean }[],
  chosen: ListPreferences['columns']
): { key: string; shown: boolean }[] {
  const kept = (chosen ?? []).filter(one => columns.some(({ key }) => key === one.key))
  const added = columns.filter(({ key }) => !kept.some(one => one.key === key))
  const all = [...kept, ...added.map(({ key, optional }) => ({ key, shown: !optional }))]
  // Nobody can want a list without columns: what was chosen is all gone by now.
  return all.some(one => one.shown) ? all : columns.map(({ key }) => ({ key, shown: true }))
}

/** A change of what a person keeps of a list. */
export type PreferencesChange = (now: ListPreferences) => ListPreferences

/** What the server keeps of the list with this key. */
export const preferencesQuery = (key: string) => ({
  ...read(accounts.preferences, { params: { key: `list.${key}` } }),
  retry: false,
  staleTime: Infinity
})

/** Changes are kept one after the other: each begins with what the one before it left. */
let saving: Promise<unknown> = Promise.resolve()
let newest = 0

/**
 * What a person keeps of a list. A change is made to what the server keeps by then, not to what this tab has read:
 * another tab may have saved a view since, and what could not be read must not be overwritten. Where it cannot be kept,
 * it holds until the page is left.
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
          // What was chosen since then is shown already.
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
