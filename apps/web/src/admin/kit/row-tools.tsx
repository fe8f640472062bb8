import './styles.ts'
import { NuqsAdapter } from 'nuqs/adapters/react-router/v8'
import { parseAsString, useQueryState } from 'nuqs'
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'
import { refresh } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'
import { registerPaletteActions } from '../../kit/palette.ts'
import { Forms } from './forms.tsx'
import type { Resource, Row, Tools } from './resource.ts'
import { useRowActions, type Action, type Place } from './row-actions.tsx'
import { ActionButton, RowActions } from './row-menu.tsx'

type Props<R extends Row> = {
  /** The screen that the row belongs to. */
  of: { resource: Resource<R> }
  row: R
  /** Names of actions to show as buttons beside the menu when available, and of actions to leave out. */
  buttons?: readonly string[]
  without?: readonly string[]
  /** The row was deleted. */
  onGone: () => void
}

/** A row's actions on its own page, with the forms they open. */
export const RowTools = <R extends Row>(props: Props<R>) => (
  <NuqsAdapter defaultOptions={{ shallow: false }}>
    <ActionsAndForms {...props} />
  </NuqsAdapter>
)

function ActionsAndForms<R extends Row>({ of: { resource }, row, buttons = [], without = [], onGone }: Props<R>) {
  const t = useT()
  const navigate = useNavigate()
  const [form, setForm] = useQueryState('form', parseAsString.withDefault('').withOptions({ history: 'push' }))
  const place: Place & { form: string } = {
    form,
    open: row.id,
    detail: null,
    go: (to, history) => {
      if (to.open === null) onGone()
      else void setForm(to.form || null, { history: history ?? 'push' })
    }
  }
  const tools: Tools = {
    t,
    show: () => undefined,
    detail: () => undefined,
    watch: () => undefined,
    form: (action, id) => place.go({ form: `${action}.${id}` }),
    go: async path => navigate(path),
    refresh: () => void refresh(resource.list, ...(resource.also ?? []))
  }
  const actions = useRowActions(resource, place, tools)(row).filter(({ name }) => !without.includes(name))
  usePaletteActions(`${resource.key}.${row.id}`, resource.nameOf(row), actions)
  return (
    <>
      <span className="row inline" style={{ gap: '0.4rem' }}>
        {actions
          .filter(({ name, whyNot }) => buttons.includes(name) && whyNot === undefined)
          .map(action => (
            <ActionButton key={action.name} action={action} />
          ))}
        <RowActions name={resource.nameOf(row)} actions={actions} />
      </span>
      <Forms resource={resource} list={place} rows={[row]} tools={tools} />
    </>
  )
}

/** Adds the page's actions to the command palette. */
function usePaletteActions(id: string, name: string, actions: readonly Action[]): void {
  const shown = useRef({ name, actions })
  shown.current = { name, actions }
  useEffect(
    () =>
      registerPaletteActions({
        id,
        title: () => shown.current.name,
        actions: () =>
          shown.current.actions
            .filter(({ whyNot }) => whyNot === undefined)
            .map(({ name: action, label, run }) => ({ id: action, label, run }))
      }),
    [id]
  )
}
