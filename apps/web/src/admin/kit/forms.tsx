import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { ApiError, call, type Endpoint } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'
import { useFocusReturn } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { ErrorState } from '../../kit/states.tsx'
import { FormDrawer, type Former, type FormTask, type Saved } from './form-drawer.tsx'
import type { List } from './list-state.ts'
import { useMayChange, useWords } from './words.tsx'
import type { Resource, Row, RowAction, Tools } from './resource.ts'
import type { Undo } from './undo.ts'
import { showDone } from './use-command.ts'

type Place = Pick<List, 'form' | 'go'>
type Props<R extends Row> = {
  resource: Resource<R>
  list: Place
  /** The shown rows; undefined while loading. */
  rows: R[] | undefined
  tools: Tools
}

/** Shows the form that the address opens: for a new row, an edit, or a row's action that needs values. */
export function Forms<R extends Row>({ resource, list, rows, tools }: Props<R>) {
  const t = useT()
  const words = useWords(resource.key)
  const [action = '', id] = list.form.split('.')
  const { row, missing, failure, refetch } = useRow(resource, id ? Number(id) : null, rows)
  const own = resource.rowActions.find(one => one.name === action)
  const may = useMayChange(resource)
  const allowed = own ? row && may.act(row, own) : action === 'new' ? may.create : row && may.edit(row)
  const form = allowed ? formOf(resource, action) : undefined
  const wrong = missing ? t('form.gone') : allowed === false ? t('form.notAllowed') : ''
  useEffect(() => {
    if (!wrong || !list.form) return
    notify('info', wrong)
    list.go({ form: '' }, 'replace')
    // oxlint-disable-next-line react/exhaustive-deps -- report it once
  }, [wrong !== '', list.form])
  const task: FormTask | null =
    form && (action === 'new' || row)
      ? {
          ...form,
          id: list.form,
          title:
            action === 'new'
              ? words('add')
              : t('form.about', {
                  what: action === 'edit' ? t('list.edit') : words(action),
                  name: resource.nameOf(row as R)
                }),
          submit: own ? words(action) : t(action === 'new' ? 'form.add' : 'form.save'),
          danger: own?.danger,
          ask: sent =>
            own
              ? 'form' in own
                ? own.confirm?.(t, row as R, sent)
                : undefined
              : action === 'edit'
                ? resource.form?.confirm?.(t, row as R, sent)
                : undefined,
          row: action === 'new' ? undefined : row,
          plan: own ? undefined : resource.form?.plan
        }
      : null
  const saved = (reply: unknown, { former, sent = {}, open, undo: exact }: Saved) => {
    const undo =
      exact ??
      (row &&
        (action === 'edit' ? undoOf(resource, row, { reply, former, sent }) : formUndo(own, row, { reply, sent })))
    const invalidate = [resource.list, ...(resource.also ?? [])]
    // An edit returns the row, which may have a new name.
    const edited = action === 'edit' && row && reply && typeof reply === 'object' ? { ...row, ...reply } : row
    showDone(own?.success?.(t, reply), { undo, what: edited && resource.nameOf(edited), invalidate })
    tools.refresh()
    // If another form has been opened since, the follow-up would replace it.
    if (open && own && 'form' in own) own.done?.(reply, tools)
  }
  useFocusReturn(failure !== null, id ? Number(id) : null)
  const Dialog = resource.dialog
  const onClose = () => list.go({ form: '' })
  return (
    <>
      {failure && (
        <Drawer
          opened
          onClose={onClose}
          returnFocus={false}
          title={own ? words(action) : t('list.edit')}
          position="right"
          size="md"
          zIndex={250}
          attributes={{ header: { role: 'presentation' } }}
          closeButtonProps={{ 'aria-label': t('list.close') }}
        >
          <ErrorState error={failure} onRetry={() => void refetch()} />
        </Drawer>
      )}
      {Dialog && (
        <Dialog
          task={action === 'edit' && row && allowed ? { id: list.form, row } : null}
          onClose={onClose}
          onSaved={undo => saved(undefined, { open: true, undo })}
        />
      )}
      <FormDrawer task={task} labelOf={words} onClose={onClose} onSaved={saved} />
    </>
  )
}

/** The edit that restores the former values, if the row has not changed since. */
function undoOf<R extends Row>(
  { form }: Resource<R>,
  row: R,
  { reply, former, sent }: { reply: unknown; former: Former | undefined; sent: Former }
): Undo | undefined {
  const version = (reply as { version?: unknown } | null | undefined)?.version
  if (!form?.undo || !form.update || !former || typeof version !== 'string') return undefined
  if (form.undo !== true && !form.undo({ former, sent })) return undefined
  return { route: form.update, input: { params: { id: row.id }, body: { ...former, version } } }
}

const formUndo = <R extends Row>(
  own: RowAction<R> | undefined,
  row: R,
  { reply, sent }: { reply: unknown; sent: Former }
): Undo | undefined => (own && 'form' in own ? own.undo?.(row, reply, sent) : undefined)

function formOf<R extends Row>({ form, rowActions }: Resource<R>, action: string) {
  if (action === 'new') return form?.create && { ...form, route: form.create }
  if (action === 'edit') return form?.update && { ...form, route: form.update }
  const found = rowActions.find(one => one.name === action)
  return found && 'form' in found ? found.form : undefined
}

/** The row with this id, on the page or not; null if it does not exist. */
function useRow<R extends Row>({ list, find }: Resource<R>, id: number | null, rows: R[] | undefined) {
  // The row may leave the page while its form is open, so remember it.
  const known = useRef(new Map<number, R>())
  for (const one of rows ?? []) known.current.set(one.id, one)
  const here = id === null ? undefined : known.current.get(id)
  const wanted = id !== null && !here
  const valid = Number.isSafeInteger(id) && Number(id) > 0
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(list), 'row', id],
    queryFn: () => (find ?? findIn<R>(list))(id ?? 0),
    // Wait for the page first: it usually contains the row.
    enabled: wanted && valid && (Boolean(find) || rows !== undefined)
  })
  const found = here ?? (wanted ? data : undefined)
  const isGone = error instanceof ApiError && error.status === 404
  return {
    row: found ?? undefined,
    missing: wanted && (!valid || data === null || isGone),
    failure: wanted && !found && !isGone ? error : null,
    refetch
  }
}

/** Finds one row by querying the list for its id. */
const findIn =
  <R extends Row>(list: Endpoint) =>
  async (id: number): Promise<R | null> => {
    const { data } = await (call as (route: Endpoint, input: object) => Promise<{ data: R[] }>)(list, {
      query: { id, limit: 1 }
    })
    return data.find(one => one.id === id) ?? null
  }
