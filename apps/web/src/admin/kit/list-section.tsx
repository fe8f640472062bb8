import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef, type ComponentProps } from 'react'
import { useLocation } from 'react-router'
import { DataTable } from './data-table.tsx'

type Table<Row> = ComponentProps<typeof DataTable<Row>>
type Props<Row> = Pick<Table<Row>, 'columns' | 'rows' | 'rowKey' | 'empty' | 'paging' | 'total'> & {
  /** The section's anchor: an address with this hash scrolls to it. */
  id: string
  title: string
  query: Pick<UseQueryResult, 'data' | 'isPending' | 'error' | 'refetch'>
}

/** A titled table among other sections of a page. */
export function ListSection<Row>({ id, title, query, ...table }: Props<Row>) {
  const { data, isPending, error, refetch } = query
  const place = useRef<HTMLElement>(null)
  const { hash } = useLocation()
  const isLoaded = data !== undefined
  useEffect(() => {
    // Scroll once the rows are loaded: everything above then has its final height.
    if (isLoaded && hash === `#${id}`) place.current?.scrollIntoView()
  }, [hash, id, isLoaded])
  return (
    <section ref={place} id={id} aria-label={title}>
      <h3>{title}</h3>
      <DataTable label={title} pending={isPending} error={error} onRetry={() => void refetch()} {...table} />
    </section>
  )
}
