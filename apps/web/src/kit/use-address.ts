import { useCallback, useLayoutEffect, useMemo, useRef } from 'react'
import { useLocation, useNavigate, type Location } from 'react-router'

/** Values for parameters of the address; null takes one away. */
export type AddressChange = Record<string, string | number | null>

/** What the address will be once the router has drawn it: a second change before that must not undo the first one. */
let ahead: { from: Location; search: string } | undefined

/**
 * The parameters of the page's address, and how to change some of them. Parameters that a change does not name, and the
 * part behind `#`, stay as they are. A change replaces the address; `push` makes a step that Back undoes. What comes from
 * an address was typed by anybody: check it.
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
  const shown = useRef(false)
  useLayoutEffect(() => {
    shown.current = true
    return () => {
      shown.current = false
    }
  }, [])

  const change = useCallback((changes: AddressChange, { push = false } = {}) => {
    if (!shown.current) return
    const { location, navigate } = now.current
    const before = ahead?.from === location ? ahead.search : location.search
    const query = new URLSearchParams(before)
    for (const [name, value] of Object.entries(changes))
      if (value === null) query.delete(name)
      else query.set(name, String(value))
    const text = query.toString()
    const search = text && `?${text}`
    if (search === before) return
    ahead = { from: location, search }
    void navigate({ search, hash: location.hash }, { replace: !push, state: location.state as unknown })
  }, [])

  const query = useMemo(() => new URLSearchParams(location.search), [location.search])
  return { query, change }
}

/** A whole number from 1 to `most` as an address writes it, such as an id; undefined for everything else. */
export const numberIn = (query: URLSearchParams, name: string, most = 2_147_483_647): number | undefined => {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= most ? Number(text) : undefined
}
