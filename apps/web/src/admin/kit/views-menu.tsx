import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useT, type Key } from '../../i18n/admin.ts'
import { notify } from '../../kit/notify.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import classes from './kit.module.css'
import type { List } from './list-state.ts'
import { openView, type ListPreferences, type PreferencesChange, type View } from './preferences.ts'
import type { Resource, Row } from './resource.ts'
import { ToolbarPopover } from './toolbar-popover.tsx'

type Props<R extends Row> = {
  resource: Resource<R>
  list: List
  preferences: ListPreferences
  save: (change: PreferencesChange) => void
}

/** A user's saved searches, filters and sorts. */
export function ViewsMenu<R extends Row>({ resource, list, preferences, save }: Props<R>) {
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
