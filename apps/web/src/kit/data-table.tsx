import './styles/tables.ts'
import { NativeSelect, Pagination, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useT } from '../i18n/index.ts'
import classes from './data-table.module.css'
import { numberText } from './number.ts'
import { EmptyState, ErrorState } from './states.tsx'
import { useClampedPage, type usePaging } from './use-paging.ts'

export type Column<Row> = {
  key: string
  title: string
  /** Its title is told to screen readers alone. */
  hidden?: boolean
  render: (row: Row) => ReactNode
  align?: 'end'
  /** Leads a card on a narrow screen; the others follow as title and value. */
  lead?: boolean
  /** Takes a card's whole width: its value may be long. */
  wide?: boolean
  /** What it holds says itself what it is, such as a button: it stands at a card's foot, without its title. */
  bare?: boolean
}

type Props<Row> = {
  /** What the table holds, for those who do not see it. */
  label: string
  columns: Column<Row>[]
  rows: Row[] | undefined
  rowKey: (row: Row) => string | number
  pending: boolean
  error?: unknown
  errorText?: string
  onRetry?: () => void
  empty: { title: string; body?: string; compact?: boolean; action?: ReactNode }
  paging?: ReturnType<typeof usePaging>
  total?: number | undefined
  sizes?: number[]
  selected?: string | number | null
  /** Rows that need somebody's attention. */
  problem?: (row: Row) => boolean
}

/** A dense table; a list of cards where the window is 768 px wide or less. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, rows, pending, error, errorText, onRetry, empty, paging, total, sizes } = props
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const places = Math.min(paging?.size ?? 5, 10)
  const height = { minHeight: `${places * (narrow ? 7.5 : 2.9) + 2.5}rem` }
  let body: ReactNode
  if (error && !rows) body = <ErrorState error={error} fallback={errorText} onRetry={onRetry} />
  else if (!pending && !rows?.length)
    body = (
      <EmptyState title={empty.title} body={empty.body} compact={empty.compact}>
        {empty.action}
      </EmptyState>
    )
  else if (pending)
    body = (
      <div className={classes.loading} style={height} role="status" aria-label={label}>
        {Array.from({ length: places }, (_, index) => (
          <Skeleton key={index} height={narrow ? 84 : 22} />
        ))}
      </div>
    )
  else body = narrow ? <Cards {...props} /> : <Grid {...props} />
  return (
    <div className={`card ${classes.root}`}>
      {body}
      {paging && total !== undefined && total > 0 && (
        <Pages paging={paging} total={total} {...(sizes ? { sizes } : {})} />
      )}
    </div>
  )
}

function Grid<Row>({ label, columns, rows, rowKey, selected, problem }: Props<Row>) {
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label={label}>
      <table className={classes.table}>
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

function Cards<Row>({ label, columns, rows, rowKey, selected, problem }: Props<Row>) {
  return (
    <ul aria-label={label}>
      {rows?.map(row => (
        <li
          key={rowKey(row)}
          className={classes.item}
          data-selected={selected === rowKey(row) || undefined}
          data-problem={problem?.(row) || undefined}
        >
          {columns
            .filter(column => column.lead)
            .map(column => (
              <div key={column.key} className={classes.lead}>
                {column.render(row)}
              </div>
            ))}
          <dl>
            {columns
              .filter(column => !column.lead && !column.bare)
              .map(column => (
                <div key={column.key} data-wide={column.wide}>
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

type PagesProps = { paging: ReturnType<typeof usePaging>; total: number; sizes?: number[] }

function Pages({ paging, total, sizes }: PagesProps) {
  const t = useT()
  useClampedPage(paging, total)
  const { page, size, setPage, setSize } = paging
  const count = Math.ceil(total / size)
  const names = { previous: t('previous'), next: t('next'), first: t('page.first'), last: t('page.last') }
  return (
    <div className={classes.foot}>
      <span className="dim num">
        {t('page.range', {
          from: numberText((page - 1) * size + 1),
          to: numberText(Math.min(page * size, total)),
          total: numberText(total)
        })}
      </span>
      {sizes && (
        <NativeSelect
          size="xs"
          aria-label={t('page.size')}
          data={sizes.map(String)}
          value={String(size)}
          onChange={event => setSize(Number(event.currentTarget.value))}
        />
      )}
      {count > 1 && (
        <Pagination
          size="sm"
          total={count}
          value={page}
          onChange={setPage}
          siblings={1}
          getControlProps={control => ({ 'aria-label': names[control] })}
          getItemProps={item => ({ 'aria-label': t('page.number', { page: item }) })}
        />
      )}
    </div>
  )
}
