import '../../kit/styles/palette.ts'
import { createSpotlight, Spotlight, type SpotlightStore, useSpotlight } from '@mantine/spotlight'
import { IconHistory, IconSearch } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore
} from 'react'
import { useLocation, useNavigate } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT as useMenuT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { mayLeave } from '../../kit/leaving.ts'
import { offerPalette } from '../../kit/palette.ts'
import { allowedOf, isAllowed, itemAt, menuOf } from '../shell/menu.ts'
import { type Entry, type Group, mentions, useActions, usePageActions, useRunNow } from './use-actions.ts'
import classes from './palette.module.css'
import { useFound } from './use-found.ts'
import { shownTitle } from '../../kit/use-title.ts'
import { screenAt } from '../manifest.ts'

type Options = {
  store: SpotlightStore
  /** The list's id. */
  list: string
  input: RefObject<HTMLInputElement | null>
  query: string
}

/**
 * Tracks which entry Enter opens: the first, until the user moves to another one, which then stays selected when
 * entries appear above it. Also sets `aria-activedescendant` for screen readers. @returns the input's key handler
 */
function useSelection({ store, list, input, query }: Options): (event: KeyboardEvent) => void {
  const { opened } = useSpotlight(store)
  const moved = useRef(false)
  useEffect(() => {
    moved.current = false
  }, [query, opened])
  const mark = () => {
    const entries = [...document.querySelectorAll<HTMLElement>(`#${list} [data-action]`)]
    const current = entries.findIndex(entry => entry.hasAttribute('data-selected'))
    const selected = moved.current && current >= 0 ? current : query ? 0 : current
    entries.forEach((entry, index) => {
      entry.id = `${list}-${index}`
      entry.toggleAttribute('data-selected', index === selected)
      entry.setAttribute('aria-selected', String(index === selected))
    })
    // The library stores an index, so correct it when entries appear above.
    if (store.getState().selected !== selected) store.updateState(state => ({ ...state, selected }))
    const active = entries[selected]
    if (active) input.current?.setAttribute('aria-activedescendant', active.id)
    else input.current?.removeAttribute('aria-activedescendant')
  }
  useLayoutEffect(() => {
    if (opened) mark()
  })
  return ({ key }) => {
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return
    moved.current = true
    // After the library has moved the selection.
    queueMicrotask(mark)
  }
}

type Visit = { to: string; label: string }

const KEY = 'netlet-recent'
const KEPT = 8

/** The console pages that this tab visited last, newest first, for `user` only. */
function read(user: number): readonly Visit[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { user?: unknown; visits?: unknown } | null
    if (kept?.user !== user || !Array.isArray(kept.visits)) return []
    return (kept.visits as Partial<Visit>[]).flatMap(({ to, label }) =>
      typeof to === 'string' && typeof label === 'string' ? [{ to, label }] : []
    )
  } catch {
    return []
  }
}

function remember(user: number, visit: Visit): void {
  const visits = [visit, ...read(user).filter(({ to }) => to !== visit.to)].slice(0, KEPT)
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ user, visits }))
  } catch {
    // Without session storage there are no recent pages.
  }
}

/** Records each console page by its title. @returns the earlier ones */
function useRecent(): () => readonly Visit[] {
  const { pathname } = useLocation()
  const { user } = useSession()
  const title = useSyncExternalStore(shownTitle.subscribe, shownTitle.current)
  const id = user?.id
  useEffect(() => {
    if (id !== undefined && title && screenAt(pathname)?.role === 'admin') remember(id, { to: pathname, label: title })
  }, [id, pathname, title])
  return () => (id === undefined ? [] : read(id).filter(({ to }) => to !== pathname))
}

const RECENT = 5
const LIST = 'palette-list'

/** The characters that a list's texts can contain. We do not search a list for anything else. */
const HOLDS: Partial<Record<string, RegExp>> = {
  // Addresses and their ranges.
  CIDRManage: /^[\d.:/a-f]+$/i,
  // Order numbers of the shop and the platform.
  payments: /^(?=.*\d|nl-)\S+$/i,
  // E-mail addresses.
  mails: /^\S+$/
}

const menu = menuOf('admin')
const [store, palette] = createSpotlight()

/** Ctrl+K opens any screen or row of the console and runs the actions available anywhere. */
export default function Palette() {
  const menuT = useMenuT()
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const chosen = useRef<(() => unknown) | null>(null)
  const recent = useRecent()
  useEffect(() => offerPalette(palette.open), [])
  const choose = (entry: Entry) => {
    if ('to' in entry) void go(entry.to)
    // Run it after the palette has restored the focus, because a question or form takes the focus from there.
    else chosen.current = entry.run
  }
  const go = async (to: string) => {
    if (await mayLeave()) await navigate(to)
  }
  /** If the palette opens again before it has closed, drop the earlier text and choice. */
  const reopen = () => {
    chosen.current = null
    setQuery('')
  }
  const act = () => {
    const run = chosen.current
    chosen.current = null
    void run?.()
  }
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={reopen}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      centered={false}
      overlayProps={{ blur: 0 }}
      transitionProps={{ duration: 150, transition: 'pop', onExited: act }}
      classNames={{ actionsGroup: classes.group, actionDescription: classes.description }}
      attributes={{ content: { 'aria-label': menuT('palette.label') } }}
    >
      <Choices query={query} recent={recent} onChoose={choose} />
    </Spotlight.Root>
  )
}

type Recent = ReturnType<typeof useRecent>
type ChoicesProps = { query: string; recent: Recent; onChoose: (entry: Entry) => void }

/** The input and entries. A separate component, so that they are computed only while the palette is open. */
function Choices({ query, recent, onChoose }: ChoicesProps) {
  const menuT = useMenuT()
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  const { groups, status } = useGroups(query.trim(), recent)
  const onKey = useSelection({ store, list: LIST, input, query })
  return (
    <>
      <Spotlight.Search
        ref={input}
        role="combobox"
        aria-expanded={groups.length > 0}
        aria-controls={LIST}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        aria-label={menuT('palette.label')}
        placeholder={t('palette.hint')}
        leftSection={<IconSearch size={20} aria-hidden />}
        onKeyDown={onKey}
      />
      <Spotlight.ActionsList
        id={LIST}
        {...(groups.length > 0 ? { role: 'listbox', 'aria-label': menuT('palette.label') } : {})}
      >
        {groups.map(({ id, title, items }) => (
          <Spotlight.ActionsGroup key={id} label={title} role="group" aria-label={title}>
            {items.map(entry => (
              <Spotlight.Action
                key={entry.id}
                role="option"
                label={entry.label}
                description={entry.description}
                leftSection={entry.icon && <entry.icon size={20} aria-hidden />}
                onClick={() => onChoose(entry)}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && !status && <Spotlight.Empty>{menuT('palette.none')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
      <p className={`dim size-table ${classes.status}`} style={{ padding: '0.4rem 1rem 0.6rem' }} role="status">
        {status}
      </p>
    </>
  )
}

/** The entries for a text, best match first. Without a text: recent pages and all screens. */
function useGroups(term: string, recent: Recent): { groups: Group[]; status: string } {
  const menuT = useMenuT()
  const t = useT()
  const { user } = useSession()
  const items = allowedOf(menu, user).flatMap(section => section.items)
  const found = useFound(term)
  const page = usePageActions()
  const actions = useActions()
  const runs = useRunNow(term !== '')
  const matching = (group: Group): Group => ({ ...group, items: group.items.filter(entry => mentions(entry, term)) })
  const screens = {
    id: 'screens',
    title: menuT('palette.screens'),
    items: items.map(({ id, title, to, icon }) => ({ id, label: menuT(title), to, icon }))
  }
  const anywhere = { id: 'actions', title: t('palette.actions'), items: [...actions, ...runs] }
  const visited = {
    id: 'recent',
    title: t('palette.recent'),
    items: recent()
      .filter(({ to }) => isAllowed(to, user))
      .slice(0, RECENT)
      .map(({ to, label }) => {
        const item = itemAt(allowedOf(menu, user), to)
        return { id: `recent.${to}`, label: item?.to === to ? menuT(item.title) : label, to, icon: IconHistory }
      })
  }
  const searches = {
    id: 'search',
    title: menuT('palette.search'),
    items: items
      .filter(({ id, searchable }) => searchable && (HOLDS[id]?.test(term) ?? true))
      .map(({ id, title, to }) => ({
        id: `search.${id}`,
        label: menuT('palette.searchIn', { screen: menuT(title), term }),
        icon: IconSearch,
        to: `${to}?${new URLSearchParams({ search: term }).toString()}`
      }))
  }
  const groups = term
    ? [...found.exact, ...page.map(matching), matching(screens), matching(anywhere), ...found.others, searches]
    : [visited, ...page, screens, anywhere]
  return {
    groups: groups.filter(group => group.items.length > 0),
    status: found.asking ? t('palette.asking') : found.failed ? t('palette.failed') : ''
  }
}
