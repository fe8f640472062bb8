import { useMantineColorScheme } from '@mantine/core'
import {
  IconHeartbeat,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconSun,
  IconSunMoon
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { singleKeys } from '../../admin/kit/keyboard.ts'
import { perform } from '../../admin/kit/use-command.ts'
import type { Endpoint } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { catalog, fleet, inventory, rewards, settings, support } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { useT as useSharedT } from '../../i18n/index.ts'
import { type Language, LANGUAGES, useLanguage } from '../../i18n/language.ts'
import { paletteActions } from '../../kit/palette.ts'
import { chooseLanguage, useLogout } from '../header.tsx'
import { pathOf, type ScreenId } from '../manifest.ts'
import type { Icon } from '../shell/icons.ts'

/** Forms that open from anywhere: label, screen, the rest of the address, and the call they make. */
const FORMS: readonly [label: Key, screen: ScreenId, rest: string, call: Endpoint][] = [
  ['palette.newProduct', 'productManager', '/new', catalog.createProduct],
  ['palette.newCoupon', 'promocode', '?form=new', rewards.createCoupon],
  ['palette.newGiftCard', 'giftcard', '?form=new', rewards.createGiftCard],
  ['palette.newServer', 'servers', '?form=new', fleet.createServer],
  ['palette.newServerGroup', 'servergroup', '?form=new', fleet.createGroup],
  ['palette.newRule', 'AclManager', '?form=new', inventory.createRule],
  ['palette.newRuleGroup', 'AclGroupManager', '?form=new', inventory.createGroup],
  ['palette.newFaq', 'QA', '?form=new', support.createFaq]
]

const SCHEMES = [
  ['light', IconSun],
  ['dark', IconMoon],
  ['auto', IconSunMoon]
] as const

/** Milliseconds. Job schedules change only with a new version of the shop. */
const LONG = 600_000

/** The actions available on every page that the role allows. */
export function useActions(): Entry[] {
  const t = useT()
  const shared = useSharedT()
  const { mayCall } = useMay()
  const language = useLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const logout = useLogout()
  const hasKeys = useSyncExternalStore(singleKeys.subscribe, singleKeys.current)
  const allowed = (call: Endpoint, entry: Entry) => (mayCall(call) ? [entry] : [])
  return [
    ...FORMS.flatMap(([label, screen, rest, call]) =>
      allowed(call, { id: label, label: t(label), icon: IconPlus, to: pathOf(screen) + rest })
    ),
    ...allowed(catalog.startSync, {
      id: 'sync.collections',
      label: t('palette.syncTypes'),
      icon: IconRefresh,
      to: `${pathOf('productType')}?sync=true`
    }),
    ...allowed(catalog.startSync, {
      id: 'sync.tags',
      label: t('palette.syncTags'),
      icon: IconRefresh,
      to: `${pathOf('productTag')}?sync=true`
    }),
    ...allowed(catalog.rereadProducts, {
      id: 'sync.products',
      label: t('palette.syncProducts'),
      icon: IconRefresh,
      run: () =>
        perform(catalog.rereadProducts, undefined, {
          success: t('health.rereadAsked'),
          invalidate: [settings.health, catalog.products, settings.audit]
        })
    }),
    ...allowed(settings.checkHealth, {
      id: 'health.check',
      label: t('palette.checkHealth'),
      icon: IconHeartbeat,
      run: () =>
        perform(settings.checkHealth, undefined, { success: t('health.checked'), invalidate: [settings.health] })
    }),
    ...(Object.keys(LANGUAGES) as Language[])
      .filter(code => code !== language)
      .map(code => ({
        id: `language.${code}`,
        label: `${shared('nav.language')}: ${LANGUAGES[code]}`,
        icon: IconLanguage,
        run: () => chooseLanguage(code, true)
      })),
    ...SCHEMES.filter(([name]) => name !== colorScheme).map(([name, icon]) => ({
      id: `scheme.${name}`,
      label: `${shared('nav.scheme')}: ${shared(`scheme.${name}`)}`,
      icon,
      run: () => setColorScheme(name)
    })),
    {
      id: 'single-keys',
      label: t(hasKeys ? 'palette.keysOff' : 'palette.keysOn'),
      icon: IconKeyboard,
      run: () => singleKeys.set(!hasKeys)
    },
    { id: 'logout', label: shared('nav.logout'), icon: IconLogout, run: () => logout.mutate() }
  ]
}

/** Entries that run a scheduled job now. They are loaded when the user types. */
export function useRunNow(typing: boolean): Entry[] {
  const t = useT()
  const { mayCall } = useMay()
  const { data } = useQuery({
    ...read(settings.tasks),
    staleTime: LONG,
    retry: false,
    enabled: typing && mayCall(settings.runNow)
  })
  if (!typing || !mayCall(settings.runNow)) return []
  return (data?.schedules ?? []).map(({ queue, purpose }) => ({
    id: `run.${queue}`,
    label: t('tasks.runOf', { queue }),
    description: purpose,
    icon: IconPlayerPlay,
    run: () =>
      perform(
        settings.runNow,
        { body: { queue } },
        {
          success: t('tasks.asked'),
          invalidate: [settings.tasks, settings.audit]
        }
      )
  }))
}

/** Actions that the current page registered. */
export function usePageActions(): Group[] {
  const registered = useSyncExternalStore(paletteActions.subscribe, paletteActions.current)
  return registered.map(({ id, title, actions }) => ({
    id: `page.${id}`,
    title: title(),
    items: actions().map(action => ({ ...action, id: `page.${id}.${action.id}` }))
  }))
}

/** A palette entry leads to a page or runs an action. */
export type Entry = { id: string; label: string; description?: string; icon?: Icon } & (
  | { to: string }
  | { run: () => unknown }
)
export type Group = { id: string; title: string; items: Entry[] }

/** Does the entry contain every word of the text, in any order? */
export function mentions(entry: Pick<Entry, 'label' | 'description'>, text: string): boolean {
  const words = `${entry.label} ${entry.description ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => words.includes(word))
}
