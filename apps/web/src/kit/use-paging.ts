import { useEffect, useState } from 'react'

/** The page that is shown after the rows became `total`: the last one that still has rows. */
export const pageWithin = (page: number, size: number, total: number) =>
  Math.min(page, Math.max(1, Math.ceil(total / size)))

/** Page number and size of a list. `resetKey`: a new search or filter starts at the first page. */
export function usePaging(initialSize: number, resetKey = '') {
  const [size, setSize] = useState(initialSize)
  const [page, setPage] = useState(1)
  useEffect(() => setPage(1), [resetKey, size])
  return { page, size, setPage, setSize, limit: size, offset: (page - 1) * size }
}

/** Moves back where the last row of the last page was deleted. */
export function useClampedPage({ page, size, setPage }: ReturnType<typeof usePaging>, total: number | undefined): void {
  useEffect(() => {
    if (total === undefined) return
    const fitting = pageWithin(page, size, total)
    if (fitting !== page) setPage(fitting)
  }, [page, size, total, setPage])
}
