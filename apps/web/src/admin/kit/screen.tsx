import './styles.ts'
import { Button, Drawer, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { RowSelectionState } from '@tanstack/react-table'
import { NuqsAdapter } from 'nuqs/adapters/react-router/v8'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useMay } from '../../api/session.ts'
import { refresh } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'
import { useFocusReturn } from '../../kit/focus-return.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { notify } from '../../kit/notify.ts'
import { failureText } from '../../i18n/failures.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useOnline } from '../../kit/use-online.ts'
import { BulkRunPanel } from './bulk-run.tsx'
import { ColumnsMenu, ViewsMenu } from './toolbar-popover.tsx'
import { Forms } from './forms.tsx'
import { useListKeys, useRowClick } from './keyboard.ts'
import classes from './kit.module.css'
import { queryOf, FIXED, type List, RESULTS, SIZES, useListState } from './list-state.ts'
import { useMayChange, useWords } from './words.tsx'
import { Pager, useLastPage } from './pager.tsx'
import { arrange, useListPreferences } from './preferences.ts'
import type { FormSchema, Named, Resource, Row, RowOf, Selected, Spec, Tools } from './resource.ts'
import { useOpenEdit, useRowActions } from './row-actions.tsx'
import { RowActions } from './row-menu.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { ResourceCards, ResourceTable } from './table.tsx'
import { Toolbar } from './toolbar.tsx'
import { useListPage } from './use-list.ts'
import type { Endpoint } from '../../api/client.ts'

/** Removes parameters from the address that nothing on the screen reads. */
function useKnownAddress<R extends Row>({ filters, address, addressOfDrawer, addressOfDetail }: Resource<R>): void {
  const { search, hash, state } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    const params = new URLSearchParams(search)
    const known = new Set([
      'menu',
      'full',
      ...Object.keys(FIXED),
      ...Object.keys(RESULTS),
      ...filters.map(({ key }) => key),
      ...(address ?? []),
      ...((params.has('open') && addressOfDrawer) || []),
      ...((params.has('detail') && addressOfDetail) || [])
    ])
    const strange = [...params.keys()].filter(key => !known.has(key))
    if (strange.length === 0) return
    for (const key of strange) params.delete(key)
    void navigate({ search: params.toString(), hash }, { replace: true, state: state as unknown })
  }, [search, hash, state, navigate, filters, address, addressOfDrawer, addressOfDetail])
}

type Props<R extends Row> = {
  resource: Resource<R>
  /** The default search if the address has none. */
  search?: string
}

function ResourceScreen<R extends Row>(props: Props<R>) {
  return (
    // `shallow: false` notifies the router of each change, so that both see the same address.
    <NuqsAdapter defaultOptions={{ shallow: false }}>
      <Screen {...props} />
    </NuqsAdapter>
  )
}

function Screen<R extends Row>({ resource, search = '' }: Props<R>) {
  const t = useT()
  const list = useListState(resource, search)
  useKnownAddress(resource)
  const here = useLocation()
  const navigate = useNavigate()
  const changed = useMemo(() => [resource.list, ...(resource.also ?? [])], [resource])
  const tools: Tools = {
    t,
    show: id => list.go({ open: id }),
    detail: id => list.go({ detail: id, open: null }),
    watch: run => list.go({ run }),
    go: async path => {
      if (await mayLeave()) await navigate(path, { state: { from: here.pathname + here.search } })
    },
    form: (action, id) => list.go({ form: `${action}.${id}` }),
    refresh: () => void refresh(...changed)
  }
  const actionsOf = useRowActions(resource, list, tools)
  const actions = (row: R) => <RowActions name={resource.nameOf(row)} actions={actionsOf(row)} />
  // State is here so that opening the detail view does not lose the selection.
  const [selection, setSelection] = useState<RowSelectionState>({})
  const [all, setAll] = useState(false)
  const asked = JSON.stringify({ ...queryOf(list), sort_by: '', sort_order: '' })
  const [askedBefore, setAskedBefore] = useState(asked)
  // Set state during render: an effect would render each row twice.
  if (asked !== askedBefore) {
    setAskedBefore(asked)
    setSelection({})
    setAll(false)
  }
  // On return from the detail view, the focus goes back to its row.
  const left = useRef<number | null>(null)
  if (list.detail !== null) left.current = list.detail
  const Detail = resource.detail
  const Above = resource.above
  if (Detail && list.detail !== null)
    return (
      <>
        <Detail key={list.detail} id={list.detail} onBack={() => list.go({ detail: null })} actions={actions} />
        <Forms resource={resource} list={list} rows={[]} tools={tools} />
      </>
    )
  return (
    <div className="stack">
      {Above && <Above />}
      {list.run !== null && (
        <BulkRunPanel key={list.run} id={list.run} invalidate={changed} onClose={() => list.go({ run: null })} />
      )}
      <ListPart
        resource={resource}
        list={list}
        tools={tools}
        actions={actions}
        selection={selection}
        all={all}
        onSelect={setSelection}
        onAll={setAll}
        left={left}
      />
    </div>
  )
}

type ListPartProps<R extends Row> = {
  resource: Resource<R>
  list: List
  tools: Tools
  actions: (row: R) => ReactNode
  selection: RowSelectionState
  all: boolean
  onSelect: (next: RowSelectionState) => void
  onAll: (all: boolean) => void
  /** The row whose detail view was last shown, until it gets the focus back. */
  left: RefObject<number | null>
}

function ListPart<R extends Row>(props: ListPartProps<R>) {
  const { resource, list, tools, actions, selection, all, onSelect, onAll, left } = props
  const t = useT()
  const words = useWords(resource.key)
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const online = useOnline()
  const { preferences, pending, save } = useListPreferences(resource.key)
  const arranged = arrange(resource.columns, preferences.columns)
  const page = useListPage(resource, list)
  const rows = page.data?.data
  const exact = page.data?.total_exact ?? true
  useLastPage(list, page.data, !page.isPlaceholderData && !page.isFetching)

  const area = useRef<HTMLDivElement>(null)
  const searchRef = useRef<HTMLInputElement>(null)
  const shown = Boolean(rows) && !pending
  useEffect(() => {
    if (!shown || left.current === null) return
    area.current?.querySelector<HTMLElement>(`[data-row="${left.current}"]`)?.focus()
    left.current = null
  }, [shown, left])
  const openEdit = useOpenEdit(resource, list)
  const may = useMayChange(resource)
  const { me } = useMay()
  const open = (id: number) => {
    const row = rows?.find(one => one.id === id)
    if (!row) return
    if (resource.pageOf) void tools.go(resource.pageOf(row))
    else if (resource.drawer) list.go({ open: id })
    else if (may.edit(row)) {
      const whyNot = resource.form?.whyNotEdit?.(row, me)
      if (whyNot) notify('info', t(whyNot))
      else openEdit(row)
    }
  }
  const toggle = (id: number) => {
    if (!resource.batch || all) return
    const { [String(id)]: ticked, ...others } = selection
    onSelect(ticked ? others : { ...selection, [String(id)]: true })
  }
  const idOf = (row: HTMLElement) => Number(row.dataset['row'])
  useListKeys({ area, search: searchRef, onOpen: row => open(idOf(row)), onSelect: row => toggle(idOf(row)) })
  // A click opens a view, but not a form, which a stray click should not open.
  const looks = resource.drawer !== undefined || resource.pageOf !== undefined
  useRowClick(area, looks ? open : undefined)

  const ids = Object.keys(selection).map(Number)
  const selected = (): Selected => {
    const { sort_by, sort_order, ...query } = queryOf(list)
    const sort = { ...(sort_by ? { sort_by } : {}), ...(sort_order ? { sort_order } : {}) }
    return all ? { query, sort, expected: exact ? page.data?.total : undefined } : { ids }
  }
  const Drawer = resource.drawer
  return (
    <>
      <Toolbar resource={resource} list={list} narrow={narrow} searchRef={searchRef}>
        <ViewsMenu resource={resource} list={list} preferences={preferences} save={save} />
        <ColumnsMenu
          resource={resource.key}
          arranged={arranged}
          onChange={columns => save(now => ({ ...now, columns }))}
        />
      </Toolbar>
      {(!online || (page.error && rows)) && (
        <div className="notice warn row between" style={{ gap: '0.5rem 1rem' }} role="status">
          <span>{online ? failureText(page.error, resource.failure) : t('list.offline')}</span>
          <Button size="compact-sm" variant="default" onClick={() => void page.refetch()}>
            {t('list.retry')}
          </Button>
        </div>
      )}
      <SelectionBar
        resource={resource}
        total={page.data?.total}
        exact={exact}
        ids={ids}
        all={all}
        onAll={() => onAll(true)}
        onClear={() => {
          onSelect({})
          onAll(false)
        }}
        selected={selected}
        onRun={id => {
          // The next batch starts with an empty selection.
          onSelect({})
          onAll(false)
          list.go({ run: id })
        }}
      />
      <div
        ref={area}
        className={`card ${classes.list}`}
        data-keys
        aria-busy={page.isFetching}
        // Rows of the previous query are visible but inert.
        data-former={page.isPlaceholderData || undefined}
        data-look={looks || undefined}
      >
        {page.error && !rows ? (
          <ErrorState error={page.error} fallback={resource.failure} onRetry={() => void page.refetch()} />
        ) : !rows || pending ? (
          <Loading label={words('label')} size={list.size} narrow={narrow} />
        ) : rows.length === 0 ? (
          <Nothing words={words} asked={Object.keys(queryOf({ ...list, sort: null })).length > 0} />
        ) : narrow ? (
          <ResourceCards {...{ resource, list, rows, arranged, selection, all, onSelect, actions }} />
        ) : (
          <ResourceTable {...{ resource, list, rows, arranged, selection, all, onSelect, actions }} />
        )}
        {page.data && rows && rows.length > 0 && <Pager list={list} page={page.data} sizes={resource.sizes ?? SIZES} />}
      </div>
      <Forms resource={resource} list={list} rows={rows ?? (page.error ? [] : undefined)} tools={tools} />
      {Drawer && (
        <SideDrawer list={list} title={words('one')}>
          {id => <Drawer key={id} id={id} row={rows?.find(one => one.id === id)} tools={tools} />}
        </SideDrawer>
      )}
    </>
  )
}

const Loading = ({ label, size, narrow }: { label: string; size: number; narrow: boolean }) => (
  <div
    className="awaited"
    style={{ minHeight: `${Math.min(size, 10) * (narrow ? 7.5 : 2.9) + 2.5}rem` }}
    role="status"
    aria-label={label}
  >
    {Array.from({ length: Math.min(size, 10) }, (_, index) => (
      <Skeleton key={index} height={narrow ? 84 : 22} />
    ))}
  </div>
)

const Nothing = ({ words, asked }: { words: (name: string) => string; asked: boolean }) => (
  <EmptyState title={words(asked ? 'noMatch' : 'none')} body={words(asked ? 'noMatchHint' : 'noneHint')} />
)

type SideDrawerProps = { list: List; title: string; children: (id: number) => ReactNode }

/** A drawer with details of the row in the address. */
function SideDrawer({ list, title, children }: SideDrawerProps) {
  const t = useT()
  const last = useRef(list.open)
  if (list.open !== null) last.current = list.open
  useFocusReturn(list.open !== null, list.open)
  return (
    <Drawer
      opened={list.open !== null}
      onClose={() => list.go({ open: null })}
      returnFocus={false}
      title={title}
      position="right"
      size="lg"
      // Above the dashboard's full view, below forms, which it may open.
      zIndex={240}
      classNames={{ title: `shrinks breaks size-title ${classes.drawerTitle}` }}
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('list.close') }}
    >
      {last.current !== null && children(last.current)}
    </Drawer>
  )
}

/**
 * Declares a screen over one list of the contract. Types check it: a column's key must be in the list's rows, a sort or
 * filter in its query, a field in the form's schema, and each needs a word in the console's catalogue.
 */
export function defineResource<const K extends Named, L extends Endpoint, S extends FormSchema = FormSchema>(
  spec: Spec<K, L, RowOf<L>, S>
) {
  const resource = { sort: [], filters: [], rowActions: [], ...spec } as unknown as Resource<RowOf<L> & Row>
  /** `search`: the default search if the address has none. */
  function ResourcePage({ search }: { search?: string }) {
    return <ResourceScreen resource={resource} search={search} />
  }
  return Object.assign(ResourcePage, { resource })
}
