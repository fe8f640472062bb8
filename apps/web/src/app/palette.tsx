import '../kit/styles/palette.ts'
import { Spotlight } from '@mantine/spotlight'
import { IconSearch } from '@tabler/icons-react'
import { useDebouncedValue } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { useNavigate } from 'react-router'
import { useT } from '../i18n/account.ts'
import { mayLeave } from '../kit/leaving.ts'
import { paletteSources } from '../kit/palette.ts'
import classes from './palette.module.css'
import { menuOf } from './shell/menu.ts'

/** Milliseconds without a key after which the sources are asked. */
const PAUSE = 200

const items = menuOf('admin').flatMap(section => section.items)

/** Ctrl+K leads an administrator to any screen of the console, and to whatever its sources find. */
export default function Palette() {
  const t = useT()
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const go = async (to: string) => {
    if (await mayLeave()) await navigate(to)
  }
  const term = query.trim()
  const wanted = term.toLowerCase()
  const screens = items.filter(item => t(item.title).toLowerCase().includes(wanted))
  const searches = term ? items.filter(item => item.searchable) : []
  const found = useFound(term)
  const empty = screens.length === 0 && searches.length === 0 && found.every(({ items }) => items.length === 0)
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      centered={false}
      overlayProps={{ blur: 0 }}
      classNames={{ actionsGroup: classes.group }}
      attributes={{ content: { 'aria-label': t('palette.label') } }}
    >
      <Spotlight.Search
        aria-label={t('palette.label')}
        placeholder={t('palette.label')}
        leftSection={<IconSearch size={20} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {screens.length > 0 && (
          <Spotlight.ActionsGroup label={t('palette.screens')}>
            {screens.map(({ id, title, to, icon: Icon }) => (
              <Spotlight.Action
                key={id}
                label={t(title)}
                leftSection={<Icon size={20} aria-hidden />}
                onClick={() => void go(to)}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {searches.length > 0 && (
          <Spotlight.ActionsGroup label={t('palette.search')}>
            {searches.map(({ id, title, to }) => (
              <Spotlight.Action
                key={id}
                label={t('palette.searchIn', { screen: t(title), term })}
                leftSection={<IconSearch size={20} aria-hidden />}
                onClick={() => void go(`${to}?${new URLSearchParams({ search: term })}`)}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {found
          .filter(({ items }) => items.length > 0)
          .map(({ id, title, items }) => (
            <Spotlight.ActionsGroup key={id} label={title}>
              {items.map(item => (
                <Spotlight.Action
                  key={item.id}
                  label={item.label}
                  description={item.description}
                  onClick={() => void go(item.to)}
                />
              ))}
            </Spotlight.ActionsGroup>
          ))}
        {empty && <Spotlight.Empty>{t('palette.none')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

/** What each source finds for a term, once the typing pauses. */
function useFound(typed: string) {
  const sources = useSyncExternalStore(paletteSources.subscribe, paletteSources.current)
  const [term] = useDebouncedValue(typed, PAUSE)
  const results = useQueries({
    queries: sources.map(({ id, find }) => ({
      queryKey: ['palette', id, term],
      queryFn: async ({ signal }: { signal: AbortSignal }) => find(term, signal),
      enabled: term !== '' && term === typed,
      retry: false
    }))
  })
  return sources.map(({ id, title }, index) => ({
    id,
    title: title(),
    items: typed ? (results[index]?.data ?? []) : []
  }))
}
