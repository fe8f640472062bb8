import { ActionIcon, Button, Checkbox, Popover, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconBookmark, IconColumns, IconTrash } from '@tabler/icons-react'
import { type ComponentType, type ReactNode, useState } from 'react'
import { type Key, useT } from '../../i18n/admin.ts'
import { notify } from '../../kit/notify.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import classes from './kit.module.css'
import type { List } from './list-state.ts'
import { type ListPreferences, type PreferencesChange, type View, openView } from './preferences.ts'
import type { Resource, Row } from './resource.ts'
import { Anchor, useOpener } from './row-menu.tsx'
import { useWords } from './words.tsx'

type Props = {
  title: Key
  icon: ComponentType<{ size: number }>
  opened: boolean
  onChange: (opened: boolean) => void
  children: ReactNode
}

function ToolbarPopover({ title, icon: Icon, opened, onChange, children }: Props) {
  const t = useT()
  const { opener, button, made } = useOpener(opened, onChange)
  return (
    <>
      <Button
        variant="default"
        size="sm"
        leftSection={<Icon size={16} aria-hidden />}
        aria-haspopup="dialog"
        {...opener}
      >
        {t(title)}
      </Button>
      {button && (
        <Popover {...made} position="bottom-end" shadow="md" width={280} trapFocus withRoles>
          <Popover.Target>
            <Anchor of={button} />
          </Popover.Target>
          <Popover.Dropdown className="stack" aria-label={t(title)}>
            {children}
          </Popover.Dropdown>
        </Popover>
      )}
    </>
  )
}

type Choice = { key: string; shown: boolean }
type ColumnsMenuProps = {
  resource: string
  arranged: Choice[]
  /** null restores the screen's own columns. */
  onChange: (columns: Choice[] | null) => void
}

export function ColumnsMenu({ resource, arranged, onChange }: ColumnsMenuProps) {
  const t = useT()
  const words = useWords(resource)
  const [opened, setOpened] = useState(false)
  const move = (at: number, by: number) => {
    const next = [...arranged]
    const [moved] = next.splice(at, 1)
    if (moved) next.splice(at + by, 0, moved)
    onChange(next)
  }
  const shown = arranged.filter(one => one.shown).length
  return (
    <ToolbarPopover title="columns.title" icon={IconColumns} opened={opened} onChange={setOpened}>
      <ul className={`stack ${classes.choices}`} style={{ gap: 0 }}>
        {arranged.map(({ key, shown: on }, at) => (
          <li key={key} className="row unwrapped between" style={{ gap: '0.5rem', minHeight: '2rem' }}>
            <UnavailableHint why={on && shown === 1 ? t('columns.last') : undefined}>
              <Checkbox
                size="xs"
                label={words(key)}
                checked={on}
                onChange={() => onChange(arranged.map(one => (one.key === key ? { key, shown: !on } : one)))}
              />
            </UnavailableHint>
            <span className={`row unwrapped inline ${classes.moves}`} style={{ gap: 0 }}>
              <UnavailableHint why={at === 0 ? t('columns.isFirst') : undefined}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('columns.up', { name: words(key) })}
                  onClick={() => move(at, -1)}
                >
                  <IconArrowUp size={15} aria-hidden />
                </ActionIcon>
              </UnavailableHint>
              <UnavailableHint why={at === arranged.length - 1 ? t('columns.isLast') : undefined}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('columns.down', { name: words(key) })}
                  onClick={() => move(at, 1)}
                >
                  <IconArrowDown size={15} aria-hidden />
                </ActionIcon>
              </UnavailableHint>
            </span>
          </li>
        ))}
      </ul>
      <Button size="xs" variant="subtle" onClick={() => onChange(null)}>
        {t('columns.reset')}
      </Button>
    </ToolbarPopover>
  )
}

type ViewsMenuProps<R extends Row> = {
  resource: Resource<R>
  list: List
  preferences: ListPreferences
  save: (change: PreferencesChange) => void
}

/** A user's saved searches, filters and sorts. */
export function ViewsMenu<R extends Row>({ resource, list, preferences, save }: ViewsMenuProps<R>) {
  const t = useT()
  const [opened, setOpened] = useState(false)
  const [name, setName] = useState('')
  const { views } = preferences
  const open = (view: View) => {
    const { query, gone } = openView(view, resource)
    list.ask(query)
    if (gone.length > 0) {
      const names = gone.map(key => {
        const word = t(`${resource.key}.${key}` as Key)
        return word.startsWith(`${resource.key}.`) ? key : word
      })
      notify('info', t('views.gone', { names: names.join(', ') }))
    }
    setOpened(false)
  }
  const keep = () => {
    const { search, filters, sort, size } = list
    const view: View = { name: name.trim(), search, filters, sort, size }
    if (!view.name) return
    // The same name replaces the view.
    save(now => ({ ...now, views: [...now.views.filter(one => one.name !== view.name), view] }))
    setName('')
  }
  return (
    <ToolbarPopover title="views.title" icon={IconBookmark} opened={opened} onChange={setOpened}>
      {views.length === 0 && <p className="dim">{t('views.none')}</p>}
      <ul className={`stack ${classes.choices}`} style={{ gap: 0 }}>
        {views.map(view => (
          <li key={view.name} className="row unwrapped between" style={{ gap: '0.5rem', minHeight: '2rem' }}>
            <button type="button" className={`bare breaks ${classes.choice}`} onClick={() => open(view)}>
              {view.name}
            </button>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('views.delete', { name: view.name })}
              onClick={() => save(now => ({ ...now, views: now.views.filter(one => one.name !== view.name) }))}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </li>
        ))}
      </ul>
      <form
        className="row unwrapped stretch"
        style={{ gap: '0.5rem' }}
        onSubmit={event => {
          event.preventDefault()
          keep()
        }}
      >
        <TextInput
          size="xs"
          style={{ flex: 1 }}
          aria-label={t('views.name')}
          placeholder={t('views.name')}
          maxLength={60}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <UnavailableHint why={name.trim() ? undefined : t('views.needsName')}>
          <Button size="xs" type="submit">
            {t('views.save')}
          </Button>
        </UnavailableHint>
      </form>
    </ToolbarPopover>
  )
}
