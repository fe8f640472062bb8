import type { UseQueryResult } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import { useLocation } from 'react-router'
import { DataTable as Plain } from '../../kit/data-table.tsx'
import { useListKeys } from './keyboard.ts'

export type { Column } from '../../kit/data-table.tsx'

/** The shared table with the console's keyboard shortcuts. */
export const DataTable: typeof Plain = props => (
  <KeyboardRows>
    <Plain {...props} />
  </KeyboardRows>
)

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

/** What Enter opens in such a row: the element with `data-open`, else its first link. */
const opensOf = (row: HTMLElement) => row.querySelector<HTMLElement>('[data-open]') ?? row.querySelector('a[href]')

/**
 * Gives rows outside a resource (`data-row`, `tabIndex` -1) the list's shortcuts: j and k move, Enter opens the row's
 * link, x ticks its box. Keys never press other buttons.
 */
export function KeyboardRows({ children }: { children: ReactNode }) {
  const area = useRef<HTMLDivElement>(null)
  useListKeys({
    area,
    onOpen: row => opensOf(row)?.click(),
    onSelect: row => row.querySelector<HTMLElement>('input[type="checkbox"]')?.click()
  })
  return (
    <div ref={area} data-keys>
      {children}
    </div>
  )
}
