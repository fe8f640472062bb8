import './styles/tables.ts'
import { Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type MouseEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import classes from './data-table.module.css'
import { useSkipTarget } from './skip-links.ts'
import { EmptyState, ErrorState } from './states.tsx'
import { TablePages, useShownPlace } from './table-pages.tsx'
import type { Paging } from './use-paging.ts'

/** Whether an element is narrower than `rem`, updated on resize. False without `rem` or a layout. */
function useNarrower(ref: RefObject<HTMLElement | null>, rem: number | undefined): boolean {
  const [isNarrower, setNarrower] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element || rem === undefined) return
    const look = () => {
      const { width } = element.getBoundingClientRect()
      const unit = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      setNarrower(width > 0 && width < rem * unit)
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref, rem])
  return isNarrower
}

export type Column<Row> = {
  key: string
  title: string
  /** Show the title to screen readers only. */
  hidden?: boolean
  render: (row: Row) => ReactNode
  align?: 'end'
  /** On a narrow screen it is the card's heading. The others follow as title and value. */
  lead?: boolean
  /** Spans the card, because its value may be long. */
  wide?: boolean
  /** Its content needs no title, as a button does not. It goes to the card's foot. */
  bare?: boolean
}

type Props<Row> = {
  /** The table's accessible name. */
  label: string
  /** The text of a skip link to the table. */
  skip?: string
  /** Search and filters, shown above the rows. */
  tools?: ReactNode
  columns: Column<Row>[]
  rows: Row[] | undefined
  rowKey: (row: Row) => string | number
  pending: boolean
  /** The rows are of the previous page, kept until the next one arrives (a query's `isPlaceholderData`). */
  stale?: boolean
  error?: unknown
  errorText?: string
  onRetry?: () => void
  empty: { title: string; body?: string; compact?: boolean; action?: ReactNode }
  paging?: Paging
  total?: number | undefined
  sizes?: readonly number[]
  selected?: string | number | null
  /** Handles a click anywhere in a row outside its links and buttons. One of them must do the same for the keyboard. */
  onRow?: (row: Row) => void
  /** Marks rows that need attention. */
  problem?: (row: Row) => boolean
  /** The width in rem that the columns need. In a narrower space the table becomes a list of cards. */
  needs?: number
}

/** A dense table. In a window of up to 768 px, or with less room than it needs, it is a list of cards. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, rows, pending, stale = false, error, errorText, onRetry, empty, paging, total, sizes } = props
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const top = useRef<HTMLDivElement>(null)
  const isTight = useNarrower(top, props.needs)
  const narrow = isPhone || isTight
  const id = useId()
  useSkipTarget(id, props.skip)
  const shown = useShownPlace(paging, total, stale)
  const places = Math.min(paging?.size ?? 5, 10)
  const height = { minHeight: `${places * (narrow ? 7.5 : 2.9) + 2.5}rem` }
  // Rows are loading: the first ones, those after an empty page, or the last page's if this one is gone.
  const coming = pending || (!rows?.length && (stale || (paging !== undefined && paging.page > 1 && Boolean(total))))
  let body: ReactNode
  if (error && !rows) body = <ErrorState error={error} fallback={errorText} onRetry={onRetry} />
  else if (coming)
    body = (
      <div className="awaited" style={height} role="status" aria-label={label}>
        {Array.from({ length: places }, (_, index) => (
          <Skeleton key={index} height={narrow ? 84 : 22} />
        ))}
      </div>
    )
  else if (!rows?.length)
    body = (
      <EmptyState title={empty.title} body={empty.body} compact={empty.compact}>
        {empty.action}
      </EmptyState>
    )
  else body = narrow ? <Cards {...props} /> : <Grid {...props} />
  return (
    <div ref={top} className={`card ${classes.root}`} data-stale={stale || undefined}>
      {props.tools}
      <div id={id}>
        {body}
        {paging && shown && (
          <TablePages paging={paging} shown={shown} hidden={!rows} table={top} {...(sizes ? { sizes } : {})} />
        )}
      </div>
    </div>
  )
}

/** Makes a row clickable. */
const clicked = <Row,>(row: Row, onRow: Props<Row>['onRow']) =>
  onRow && {
    'data-clickable': true,
    onClick: ({ target }: MouseEvent) => {
      if (isForRow(target)) onRow(row)
    }
  }

/** Identifies a row for keyboard navigation. */
const reached = <Row,>(row: Row, rowKey: Props<Row>['rowKey']) => ({ 'data-row': rowKey(row), tabIndex: -1 })

function Grid<Row>({ label, columns, rows, rowKey, selected, onRow, problem, stale = false }: Props<Row>) {
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label} data-rows>
      <table className={classes.table} aria-busy={stale}>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.key} scope="col" data-align={column.align}>
                {column.hidden ? <span className="sr-only">{column.title}</span> : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map(row => (
            <tr
              key={rowKey(row)}
              {...clicked(row, onRow)}
              {...reached(row, rowKey)}
              data-selected={selected === rowKey(row) || undefined}
              data-problem={problem?.(row) || undefined}
            >
              {columns.map(column => (
                <td key={column.key} data-align={column.align}>
                  {column.render(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cards<Row>({ label, columns, rows, rowKey, selected, onRow, problem, stale = false }: Props<Row>) {
  return (
    <ul className={classes.list} aria-label={label} aria-busy={stale} tabIndex={-1} data-rows>
      {rows?.map(row => (
        <li
          key={rowKey(row)}
          {...clicked(row, onRow)}
          {...reached(row, rowKey)}
          className={classes.item}
          data-selected={selected === rowKey(row) || undefined}
          data-problem={problem?.(row) || undefined}
        >
          {columns
            .filter(column => column.lead)
            .map(column => (
              <div key={column.key} className={`breaks ${classes.lead}`}>
                {column.render(row)}
              </div>
            ))}
          <dl>
            {columns
              .filter(column => !column.lead && !column.bare)
              .map(column => (
                <div key={column.key} data-key={column.key} data-wide={column.wide}>
                  <dt>{column.hidden ? <span className="sr-only">{column.title}</span> : column.title}</dt>
                  <dd>{column.render(row)}</dd>
                </div>
              ))}
          </dl>
          {columns
            .filter(column => column.bare)
            .map(column => (
              <div key={column.key} className={classes.bare}>
                {column.render(row)}
              </div>
            ))}
        </li>
      ))}
    </ul>
  )
}

/** Elements that handle their own clicks. */
const ACTS = 'a, button, input, select, textarea, label, summary, [role="button"]'

/** Whether a click on a row is meant for the row: outside its controls, and not the end of a text selection. */
export const isForRow = (target: EventTarget | null): boolean =>
  target instanceof Element && !target.closest(ACTS) && !window.getSelection()?.toString()
