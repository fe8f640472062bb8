import { IconPencil, IconTrash } from '@tabler/icons-react'
import { useLocation, useNavigate } from 'react-router'
import { useMay } from '../../api/session.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import type { List } from './list-state.ts'
import { useMayChange, useWords } from './words.tsx'
import type { Asking, Icon, Question, Resource, Row, RowAction, Tools } from './resource.ts'
import { deletion, perform, performed } from './use-command.ts'

export type Action = {
  name: string
  label: string
  icon: Icon
  danger: boolean
  whyNot: string | undefined
  run: () => Promise<void>
}

/** The part of a list's state that row actions use. */
export type Place = Pick<List, 'open' | 'detail' | 'go'>

/** With more own actions than this, edit comes first, or the operator would have to scroll for it. */
const MANY = 8

/** The entries of a row's menu: the resource's own actions, then edit and delete. */
export function useRowActions<R extends Row>(resource: Resource<R>, list: Place, tools: Tools) {
  const t = useT()
  const openEdit = useOpenEdit(resource, list)
  const words = useWords(resource.key)
  const { form, remove } = resource
  const may = useMayChange(resource)
  const { me } = useMay()
  const changed = [resource.list, ...(resource.also ?? [])]

  /** If the question's figures cannot be loaded, do not delete. */
  const toRun = (action: RowAction<R>, row: R) => async () => {
    if ('form' in action) return list.go({ form: `${action.name}.${row.id}` })
    if ('run' in action) {
      try {
        await action.run(row, tools)
      } catch (error) {
        const words = error instanceof Error && error.message ? error.message : action.failure
        notify('bad', failureText(error, words))
      }
      return
    }
    const question = await prepareQuestion(() => action.confirm?.(t, row, {}), action.failure)
    if (!question) return
    const options = {
      ...question,
      success: (reply: unknown) => action.success?.(t, reply),
      failure: action.failure,
      invalidate: changed,
      undo: (reply: unknown) => action.undo?.(row, reply),
      what: resource.nameOf(row)
    }
    const answer = await performed(action.route, { params: { id: row.id } }, options)
    if (answer) action.done?.(answer.reply, tools)
  }

  const reason = (key: Key | undefined) => (key === undefined ? undefined : t(key))

  const ownOf = (row: R): Action[] =>
    resource.rowActions
      .filter(action => may.act(row, action))
      .map(action => ({
        name: action.name,
        label: words(action.name),
        icon: action.icon,
        danger: action.danger ?? false,
        whyNot: reason(action.whyNot?.(row, me)),
        run: toRun(action, row)
      }))
  const editOf = (row: R): Action[] =>
    may.edit(row)
      ? [
          {
            name: 'edit',
            label: t('list.edit'),
            icon: IconPencil,
            danger: false,
            whyNot: reason(form?.whyNotEdit?.(row, me)),
            run: () => Promise.resolve(openEdit(row))
          }
        ]
      : []
  const deleteOf = (row: R): Action[] =>
    remove && may.remove(row)
      ? [
          {
            name: 'delete',
            label: t('list.delete'),
            icon: IconTrash,
            danger: true,
            whyNot: reason(remove.whyNot?.(row, me)),
            run: async () => {
              const input = { params: { id: row.id } }
              const question = await prepareQuestion(() => remove.confirm?.(t, row))
              if (!question) return
              const confirm = question.confirm ?? deletion(t)
              const undo = (reply: unknown) => remove.undo?.(row, reply)
              const options = { confirm, invalidate: changed, undo, what: resource.nameOf(row) }
              const done = await perform(remove.route, input, options)
              if (done && (list.open === row.id || list.detail === row.id))
                list.go({ open: null, detail: null }, 'replace')
            }
          }
        ]
      : []
  return (row: R): Action[] => {
    const [own, edit] = [ownOf(row), editOf(row)]
    return [...(own.length > MANY ? [...edit, ...own] : [...own, ...edit]), ...deleteOf(row)]
  }
}

/** Opens a row for editing: its own view, or the form beside the list. */
export function useOpenEdit<R extends Row>({ editAt }: Resource<R>, list: Place) {
  const navigate = useNavigate()
  const { search } = useLocation()
  return (row: R): void =>
    editAt ? void navigate(editAt(row), { state: { list: search } }) : list.go({ form: `edit.${row.id}` })
}

/** The question before an action; null if it could not be prepared, after the failure has been shown. */
async function prepareQuestion(ask: () => Asking, failure?: string): Promise<{ confirm: Question | undefined } | null> {
  try {
    return { confirm: await ask() }
  } catch (error) {
    notify('bad', failureText(error, failure))
    return null
  }
}
