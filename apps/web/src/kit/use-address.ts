import { useCallback, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { useLocation, useNavigate, type Location } from 'react-router'
import { useIsShown } from './use-is-shown.ts'

/** Values for parameters of the address; null takes one away. */
export type AddressChange = Record<string, string | number | null>

/**
 * What the address will be once the router has drawn it, which it does some time later: until then a second change must not
 * undo the first one, and a field that is kept in the address must not lose a key.
 */
let ahead: { from: Location; search: string } | undefined
const listeners = new Set<() => void>()
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
const searchAt = (location: Location): string => (ahead?.from === location ? ahead.search : location.search)

/** An address that says the same in other signs (`+` for `%20`) is no other one. */
const textOf = (search: string): string => new URLSearchParams(search).toString()

/**
 * The parameters of the page's address, and how to change some of them. Parameters that a change does not name, and the
 * part behind `#`, stay as they are. A change is read at once. It replaces the address; `push` makes a step that Back undoes,
 * unless nothing is changed. What comes from an address was typed by anybody: check it.
 */
export function useAddress() {
  const location = useLocation()
  const navigate = useNavigate()
  const now = useRef({ location, navigate })
  useLayoutEffect(() => {
    now.current = { location, navigate }
    if (ahead?.from !== location) ahead = undefined
  }, [location, navigate])
  // A late change of a page that was left would lead back to it.
  const isShown = useIsShown()

  const change = useCallback(
    (changes: AddressChange, { push = false } = {}) => {
      if (!isShown()) return
      const { location, navigate } = now.current
      const before = searchAt(location)
      const query = new URLSearchParams(before)
      for (const [name, value] of Object.entries(changes))
        if (value === null) query.delete(name)
        else query.set(name, String(value))
      const text = query.toString()
      if (text === textOf(before)) return
      const search = text && `?${text}`
      ahead = { from: location, search }
      for (const listener of listeners) listener()
      void navigate({ search, hash: location.hash }, { replace: !push, state: location.state as unknown })
    },
    [isShown]
  )

  const search = useSyncExternalStore(subscribe, () => searchAt(location))
  const query = useMemo(() => new URLSearchParams(search), [search])
  return { query, change }
}

/** A whole number from 1 to `most`, such as an id, as an address writes it; undefined for everything else. */
export const numberOf = (text: string, most = 2_147_483_647): number | undefined =>
  /^[1-9]\d{0,9}$/.test(text) && Number(text) <= most ? Number(text) : undefined

/** The same of a parameter. */
export const numberIn = (query: URLSearchParams, name: string, most?: number): number | undefined =>
  numberOf(query.get(name) ?? '', most)
