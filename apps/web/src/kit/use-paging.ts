import { useCallback, useEffect, useMemo, useRef } from 'react'
import { numberIn, useAddress, type AddressChange } from './use-address.ts'

export type Paging = {
  page: number
  /** Rows on a page. */
  size: number
  limit: number
  offset: number
  /** `correct`: the list became shorter, so replace the history entry instead of adding one. */
  setPage: (page: number, options?: { correct?: boolean }) => void
  /** Returns to the first page. */
  setSize: (size: number) => void
}

/** The given page, or the last one that has rows. */
export const pageWithin = (page: number, size: number, total: number) =>
  Math.min(page, Math.max(1, Math.ceil(total / size)))

/** No list has more pages, and the server refuses larger numbers. */
const LAST_PAGE = 1_000_000

const placeOf = (page: number, size: number) => ({ page, size, limit: size, offset: (page - 1) * size })

type Options = {
  /** A prefix that separates this list's parameters from another's on the page: `proxy_page`, `proxy_size`. */
  name?: string
  sizes?: readonly number[]
  /** A new value, such as a search, returns to the first page. */
  resetKey?: string
  /** Parameters to write together with a page: they say what the list shows, if the address may lack them. */
  along?: AddressChange
}

const NOTHING: AddressChange = {}

/**
 * A list's page and size in the address, so that they survive a reload and can be shared. A new page adds a history
 * entry, a new size does not. Invalid values are ignored.
 */
export function useAddressPaging(
  initialSize: number,
  { name, sizes = [], resetKey = '', along = NOTHING }: Options = {}
): Paging {
  const { query, change } = useAddress()
  const pageName = name ? `${name}_page` : 'page'
  const sizeName = name ? `${name}_size` : 'size'
  const wanted = numberIn(query, sizeName)
  const size = wanted !== undefined && sizes.includes(wanted) ? wanted : initialSize
  const page = numberIn(query, pageName, LAST_PAGE) ?? 1

  const setPage = useCallback<Paging['setPage']>(
    (next, { correct = false } = {}) => change({ ...along, [pageName]: next === 1 ? null : next }, { push: !correct }),
    [change, pageName, along]
  )
  const setSize = useCallback<Paging['setSize']>(
    next => change({ ...along, [sizeName]: next === initialSize ? null : next, [pageName]: null }),
    [change, sizeName, pageName, initialSize, along]
  )
  const searched = useRef(resetKey)
  useEffect(() => {
    if (searched.current === resetKey) return
    searched.current = resetKey
    setPage(1, { correct: true })
  }, [resetKey, setPage])
  return useMemo(() => ({ ...placeOf(page, size), setPage, setSize }), [page, size, setPage, setSize])
}

/** Moves to the last page that has rows, after deletions or an address with too high a page. */
export function useClampedPage({ page, size, setPage }: Paging, total: number | undefined): void {
  useEffect(() => {
    if (total === undefined) return
    const fitting = pageWithin(page, size, total)
    if (fitting !== page) setPage(fitting, { correct: true })
  }, [page, size, total, setPage])
}
