import { ActionIcon, Loader, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import type { List } from './list-state.ts'
import type { Icon, Resource, Row, RowAction, Tools } from './resource.ts'
import { deletion, perform } from './use-command.ts'
import { useWords } from './words.ts'

export type Action = {
  name: string
  label: string
  icon: Icon
  danger: boolean
  disabled: boolean
  run: () => Promise<void>
}

/** What can be done with a row, as its menu offers it: the resource's own actions, then edit and delete. */
export function useRowActions<R extends Row>(resource: Resource<R>, list: List, tools: Tools) {
  const t = useT()
  const words = useWords(resource.key)
  const { form, remove } = resource
  const changed = [resource.list, ...(resource.also ?? [])]

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
    await perform(
      action.route,
      { params: { id: row.id } },
      {
        confirm: action.confirm?.(t, row),
        success: action.success?.(t),
        failure: action.failure,
        invalidate: changed
      }
    )
  }

  return (row: R): Action[] => [
    ...resource.rowActions.map(action => ({
      name: action.name,
      label: words(action.name),
      icon: action.icon,
      danger: action.danger ?? false,
      disabled: !(action.when?.(row) ?? true),
      run: toRun(action, row)
    })),
    ...(form?.update
      ? [
          {
            name: 'edit',
            label: t('list.edit'),
            icon: IconPencil,
            danger: false,
            disabled: !(form.editable?.(row) ?? true),
            run: () => Promise.resolve(list.go({ form: `edit.${row.id}` }))
          }
        ]
      : []),
    ...(remove
      ? [
          {
            name: 'delete',
            label: t('list.delete'),
            icon: IconTrash,
            danger: true,
            disabled: !(remove.when?.(row) ?? true),
            run: async () => {
              const input = { params: { id: row.id } }
              const done = await perform(remove.route, input, {
                confirm: remove.confirm?.(t, row) ?? deletion(t),
                invalidate: changed
              })
              if (done && (list.open === row.id || list.detail === row.id))
                list.go({ open: null, detail: null }, 'replace')
            }
          }
        ]
      : [])
  ]
}

/** A row's actions: few stand side by side, many in a menu. */
export function RowActions({ name, actions }: { name: string; actions: Action[] }) {
  const t = useT()
  const [busy, setBusy] = useState(false)
  // While one runs its button stays as it is, or the focus could not come back to it from a question.
  const start = (action: Action) => {
    if (busy) return
    setBusy(true)
    void action.run().finally(() => setBusy(false))
  }
  if (actions.length === 0) return null
  if (actions.length <= 2)
    return (
      <span style={{ display: 'inline-flex', gap: '0.15rem' }}>
        {actions.map(action => (
          <ActionIcon
            key={action.name}
            variant="subtle"
            color={action.danger ? 'red.9' : 'gray'}
            aria-label={`${action.label}: ${name}`}
            title={action.label}
            aria-busy={busy}
            disabled={action.disabled}
            onClick={() => start(action)}
          >
            <action.icon size={17} aria-hidden />
          </ActionIcon>
        ))}
      </span>
    )
  return (
    <Menu position="bottom-end" withInitialFocusPlaceholder={false} width={220} shadow="md" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-busy={busy} aria-label={t('list.actionsOf', { name })}>
          {busy ? <Loader size={16} color="gray" aria-hidden /> : <IconDots size={18} aria-hidden />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(action => (
          <Menu.Item
            key={action.name}
            leftSection={<action.icon size={16} aria-hidden />}
            disabled={action.disabled}
            style={action.danger ? { color: 'var(--nl-bad)' } : undefined}
            onClick={() => start(action)}
          >
            {action.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
