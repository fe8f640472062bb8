import { useCallback, useEffect, useMemo, useRef } from 'react'
import { numberIn, useAddress, type AddressChange } from './use-address.ts'

/** Which page of a list is shown, and how to go to another one. */
export type Paging = {
  page: number
  /** Rows on a page. */
  size: number
  limit: number
  offset: number
  /** `correct`: the list is shorter than was thought, so no step that Back undoes. */
  setPage: (page: number, options?: { correct?: boolean }) => void
  /** Begins at the first page again. */
  setSize: (size: number) => void
}

/** The page that is shown after the rows became `total`: the last one that still has rows. */
export const pageWithin = (page: number, size: number, total: number) =>
  Math.min(page, Math.max(1, Math.ceil(total / size)))

/** Pages beyond it are no list's, and the server would refuse to look for them. */
const LAST_PAGE = 1_000_000

const placeOf = (page: number, size: number) => ({ page, size, limit: size, offset: (page - 1) * size })

type Options = {
  /** Sets this list's parameters apart from those of another list of the page: `proxy_page`, `proxy_size`. */
  name?: string
  /** The sizes that can be chosen. */
  sizes?: readonly number[]
  /** Each new value, as of a search, starts at the first page. */
  resetKey?: string
  /** What is written along with a page: what the list is of, where the address may not say it yet. */
  along?: AddressChange
}

const NOTHING: AddressChange = {}

/**
 * Page number and size of a page's list, in its address: they stay after a reload and can be sent to somebody. Another
 * page is a step that Back undoes; another size is none. What the address names that cannot be is read as left out.
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

/** Moves back where the last row of the last page was deleted, or the address named a page that is not there. */
export function useClampedPage({ page, size, setPage }: Paging, total: number | undefined): void {
  useEffect(() => {
    if (total === undefined) return
    const fitting = pageWithin(page, size, total)
    if (fitting !== page) setPage(fitting, { correct: true })
  }, [page, size, total, setPage])
}
