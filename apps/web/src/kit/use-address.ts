import { useCallback, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { useLocation, useNavigate, type Location } from 'react-router'
import { useIsShown } from './use-is-shown.ts'

/** Values for parameters of the address; null removes one. */
export type AddressChange = Record<string, string | number | null>

/**
 * The address that the router is about to render. Until then, a second change must not undo the first, and a field that
 * lives in the address must not lose keystrokes.
 */
let ahead: { from: Location; search: string } | undefined
const listeners = new Set<() => void>()
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
const searchAt = (location: Location): string => (ahead?.from === location ? ahead.search : location.search)

/** Treats different encodings of the same parameters (`+` and `%20`) as equal. */
const textOf = (search: string): string => new URLSearchParams(search).toString()

/**
 * The address's parameters and a function to change some of them. Others, and the hash, stay. A change is readable at
 * once. It replaces the history entry; `push` adds one unless nothing changed. Anyone can write an address, so check
 * its values.
 */
export function useAddress() {
  const location = useLocation()
  const navigate = useNavigate()
  const now = useRef({ location, navigate })
  useLayoutEffect(() => {
    now.current = { location, navigate }
    if (ahead?.from !== location) ahead = undefined
  }, [location, navigate])
  // A late change from a closed page would navigate back to it.
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

/** A positive integer up to `most`, such as an id; undefined for anything else. */
export const numberOf = (text: string, most = 2_147_483_647): number | undefined =>
  /^[1-9]\d{0,9}$/.test(text) && Number(text) <= most ? Number(text) : undefined

/** The same for a parameter. */
export const numberIn = (query: URLSearchParams, name: string, most?: number): number | undefined =>
  numberOf(query.get(name) ?? '', most)
