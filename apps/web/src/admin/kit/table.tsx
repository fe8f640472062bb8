import {
  columnOrderingFeature,
  columnVisibilityFeature,
  createColumnHelper,
  rowSelectionFeature,
  rowSortingFeature,
  tableFeatures,
  useTable,
  type RowData,
  type RowSelectionState
} from '@tanstack/react-table'
import { IconArrowDown, IconArrowUp, IconArrowsSort } from '@tabler/icons-react'
import { type ComponentProps, type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { useT } from '../../i18n/admin.ts'
import shared from '../../kit/data-table.module.css'
import classes from './kit.module.css'
import type { List } from './list-state.ts'
import type { Column, Resource, Row } from './resource.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import { useWords } from './words.tsx'

type TickProps = Omit<ComponentProps<'input'>, 'type' | 'ref' | 'className' | 'size'> & {
  label?: string | undefined
  /** Some, but not all, of its items are ticked. */
  indeterminate?: boolean
}

/** A list's checkbox. It is native: a list has one for each row, and the library's consists of a dozen components. */
function Tick({ label, indeterminate = false, ...rest }: TickProps) {
  const input = useRef<HTMLInputElement>(null)
  // There is no HTML attribute for it.
  useLayoutEffect(() => {
    if (input.current) input.current.indeterminate = indeterminate
  }, [indeterminate])
  const box = <input ref={input} type="checkbox" className={classes.box} {...rest} />
  if (label === undefined) return box
  return (
    <label className={`row unwrapped inline ${classes.boxed}`} style={{ gap: '0.6rem' }}>
      {box}
      {label}
    </label>
  )
}

const features = tableFeatures({
  columnOrderingFeature,
  columnVisibilityFeature,
  rowSelectionFeature,
  rowSortingFeature
})

type Props<R extends Row> = {
  resource: Resource<R>
  list: List
  rows: R[]
  arranged: { key: string; shown: boolean }[]
  selection: RowSelectionState
  /** Everything that matches is selected; single rows cannot be deselected. */
  all: boolean
  onSelect: (next: RowSelectionState) => void
  actions: (row: R) => ReactNode
}

/** The table's state: column order, sorting and selection. */
function useListTable<R extends Row>({ resource, list, rows, arranged, selection, onSelect }: Props<R>) {
  const words = useWords(resource.key)
  const columns = useMemo(() => {
    const helper = createColumnHelper<typeof features, R & RowData>()
    return resource.columns.map(column =>
      helper.accessor((row): unknown => row, {
        id: column.key,
        header: words(column.key),
        cell: ({ row }) => column.cell(row.original),
        enableSorting: resource.sort.includes(column.key),
        meta: column
      })
    )
  }, [resource, words])
  return useTable<typeof features, R & RowData>({
    features,
    columns,
    data: rows,
    getRowId: row => String(row.id),
    manualSorting: true,
    enableMultiSort: false,
    state: {
      columnOrder: arranged.map(({ key }) => key),
      // Always show the sorted column, because a link may sort by a hidden one.
      columnVisibility: Object.fromEntries(arranged.map(({ key, shown }) => [key, shown || key === list.sort?.by])),
      rowSelection: selection,
      sorting: list.sort ? [{ id: list.sort.by, desc: list.sort.order === 'desc' }] : []
    },
    onRowSelectionChange: change => onSelect(typeof change === 'function' ? change(selection) : change),
    onSortingChange: change => {
      const now = list.sort ? [{ id: list.sort.by, desc: list.sort.order === 'desc' }] : []
      const [next] = typeof change === 'function' ? change(now) : change
      list.ask({ sort: next ? { by: next.id, order: next.desc ? 'desc' : 'asc' } : null })
    }
  })
}
type ListTable<R extends Row> = ReturnType<typeof useListTable<R>>

const lookOf = <R,>(column: { columnDef: { meta?: unknown } }) => column.columnDef.meta as Column<R>

export function ResourceTable<R extends Row>(props: Props<R>) {
  const { resource, list, all, actions } = props
  const t = useT()
  const words = useWords(resource.key)
  const table = useListTable(props)
  const selectable = Boolean(resource.batch)
  return (
    <div className={`${shared.scroll} ${classes.scroll}`} tabIndex={0} role="group" aria-label={words('label')}>
      <table className={`${shared.table} ${classes.table}`}>
        <thead>
          {table.getHeaderGroups().map(group => (
            <tr key={group.id}>
              {selectable && (
                <th scope="col" className={classes.tick}>
                  <PageTick table={table} all={all} />
                </th>
              )}
              {group.headers.map(({ id, column }) => (
                <th
                  key={id}
                  scope="col"
                  data-align={lookOf<R>(column).align}
                  aria-sort={ariaSort(column.getIsSorted(), column.getCanSort())}
                >
                  {column.getCanSort() ? (
                    <button
                      type="button"
                      className={`row unwrapped inline bare ${classes.sort}`}
                      onClick={() => column.toggleSorting()}
                    >
                      {words(column.id)}
                      <SortIcon sorted={column.getIsSorted()} />
                    </button>
                  ) : (
                    words(column.id)
                  )}
                </th>
              ))}
              <th scope="col" className={classes.actions}>
                <span className="sr-only">{t('list.actions')}</span>
              </th>
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map(row => (
            <tr
              key={row.id}
              data-row={row.id}
              tabIndex={-1}
              data-selected={all || row.getIsSelected() || list.open === row.original.id || undefined}
              data-problem={resource.problem?.(row.original) || undefined}
            >
              {selectable && (
                <td className={classes.tick}>
                  <RowTick
                    name={resource.nameOf(row.original)}
                    all={all}
                    ticked={row.getIsSelected()}
                    onTick={() => row.toggleSelected()}
                  />
                </td>
              )}
              {row.getVisibleCells().map(cell => (
                <td key={cell.id} data-align={lookOf<R>(cell.column).align}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
              <td className={classes.actions}>{actions(row.original)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function ResourceCards<R extends Row>(props: Props<R>) {
  const { resource, list, all, actions } = props
  const t = useT()
  const words = useWords(resource.key)
  const table = useListTable(props)
  return (
    <>
      {resource.batch && (
        <div className={classes.pageTick}>
          <PageTick table={table} all={all} label={t('list.selectPage')} />
        </div>
      )}
      <ul aria-label={words('label')}>
        {table.getRowModel().rows.map(row => {
          const cells = row.getVisibleCells()
          return (
            <li
              key={row.id}
              className={shared.item}
              data-row={row.id}
              tabIndex={-1}
              data-selected={all || row.getIsSelected() || list.open === row.original.id || undefined}
              data-problem={resource.problem?.(row.original) || undefined}
            >
              <div className={`row unwrapped start ${classes.cardHead}`} style={{ marginBottom: '0.5rem' }}>
                {resource.batch && (
                  <RowTick
                    name={resource.nameOf(row.original)}
                    all={all}
                    ticked={row.getIsSelected()}
                    onTick={() => row.toggleSelected()}
                  />
                )}
                {cells
                  .filter(cell => lookOf<R>(cell.column).lead)
                  .map(cell => (
                    <div key={cell.id}>
                      <table.FlexRender cell={cell} />
                    </div>
                  ))}
                <div className={classes.cardActions}>{actions(row.original)}</div>
              </div>
              <dl>
                {cells
                  .filter(cell => !lookOf<R>(cell.column).lead)
                  .map(cell => (
                    <div key={cell.id} data-wide={lookOf<R>(cell.column).wide}>
                      <dt>{words(cell.column.id)}</dt>
                      <dd>
                        <table.FlexRender cell={cell} />
                      </dd>
                    </div>
                  ))}
              </dl>
            </li>
          )
        })}
      </ul>
    </>
  )
}

type RowTickProps = { name: string; all: boolean; ticked: boolean; onTick: () => void }

function RowTick({ name, all, ticked, onTick }: RowTickProps) {
  const t = useT()
  const tick = <Tick aria-label={t('list.selectRow', { name })} checked={all || ticked} onChange={onTick} />
  return all ? <UnavailableHint why={t('list.allSelected')}>{tick}</UnavailableHint> : tick
}

function PageTick<R extends Row>({ table, all, label }: { table: ListTable<R>; all: boolean; label?: string }) {
  const t = useT()
  const { rows } = table.getRowModel()
  const ticked = rows.filter(row => row.getIsSelected()).length
  return (
    <UnavailableHint why={all ? t('list.allSelected') : undefined}>
      <Tick
        label={label}
        aria-label={label ? undefined : t('list.selectPage')}
        checked={all || (rows.length > 0 && ticked === rows.length)}
        indeterminate={!all && ticked > 0 && ticked < rows.length}
        onChange={event => {
          const { checked } = event.currentTarget
          const next = { ...table.state.rowSelection }
          for (const row of rows)
            if (checked) next[row.id] = true
            else delete next[row.id]
          table.setRowSelection(next)
        }}
      />
    </UnavailableHint>
  )
}

const ariaSort = (sorted: false | 'asc' | 'desc', can: boolean) => {
  if (!can) return undefined
  if (!sorted) return 'none'
  return sorted === 'asc' ? 'ascending' : 'descending'
}

function SortIcon({ sorted }: { sorted: false | 'asc' | 'desc' }) {
  if (!sorted) return <IconArrowsSort size={13} aria-hidden className={classes.unsorted} />
  return sorted === 'asc' ? <IconArrowUp size={13} aria-hidden /> : <IconArrowDown size={13} aria-hidden />
}
