import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { keyOf } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'
import { notify } from '../../kit/notify.ts'
import { FormDrawer, type FormTask } from './form-drawer.tsx'
import type { List } from './list-state.ts'
import type { Resource, Row, Tools } from './resource.ts'
import { useWords } from './words.ts'

type Props<R extends Row> = { resource: Resource<R>; list: List; rows: R[] | undefined; tools: Tools }

/** The form that the address asks for: a new row, a row's edit, or a row's action that needs values. */
export function Forms<R extends Row>({ resource, list, rows, tools }: Props<R>) {
  const t = useT()
  const words = useWords(resource.key)
  const [action = '', id] = list.form.split('.')
  const { row, missing } = useRow(resource, id ? Number(id) : null, rows)
  const form = formOf(resource, action)
  const own = resource.rowActions.find(one => one.name === action)
  useEffect(() => {
    if (!missing) return
    notify('info', t('form.gone'))
    list.go({ form: '' }, 'replace')
    // oxlint-disable-next-line react/exhaustive-deps -- said once
  }, [missing])
  const task: FormTask | null =
    form && (action === 'new' || row)
      ? {
          ...form,
          id: list.form,
          title:
            action === 'new'
              ? words('add')
              : `${action === 'edit' ? t('list.edit') : words(action)}: ${resource.nameOf(row as R)}`,
          submit: own ? words(action) : t(action === 'new' ? 'form.add' : 'form.save'),
          danger: own?.danger,
          question: own && 'form' in own ? own.confirm?.(t, row as R) : undefined,
          row: action === 'new' ? undefined : row
        }
      : null
  return (
    <FormDrawer
      task={task}
      labelOf={words}
      onClose={() => list.go({ form: '' })}
      onReturn={form => list.go({ form })}
      onSaved={() => {
        notify('good', own?.success?.(t) ?? t('list.done'))
        tools.refresh()
      }}
    />
  )
}

function formOf<R extends Row>({ form, rowActions }: Resource<R>, action: string) {
  if (action === 'new') return form?.create && { ...form, route: form.create }
  if (action === 'edit') return form?.update && { ...form, route: form.update }
  const found = rowActions.find(one => one.name === action)
  return found && 'form' in found ? found.form : undefined
}

/** The row with this id; `missing` where it is neither on the page nor to be found. */
function useRow<R extends Row>({ list, find }: Resource<R>, id: number | null, rows: R[] | undefined) {
  // It may leave the page while its form is open: the form goes on with what it began with.
  const known = useRef(new Map<number, R>())
  for (const one of rows ?? []) known.current.set(one.id, one)
  const here = id === null ? undefined : known.current.get(id)
  const wanted = id !== null && !here
  const { data, isError } = useQuery({
    queryKey: [...keyOf(list), 'row', id],
    queryFn: () => find?.(id ?? 0),
    enabled: wanted && Boolean(find)
  })
  return { row: here ?? (wanted ? data : undefined), missing: wanted && (find ? isError : rows !== undefined) }
}
