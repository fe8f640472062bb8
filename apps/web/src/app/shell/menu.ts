import type { CurrentUser } from '@netlet/contract'
import type { Permission } from '@netlet/contract/permissions'
import type { Key } from '../../i18n/account.ts'
import { may } from '../../api/session.ts'
import { pathOf, screenAt, screens, type MenuScreenId, type Role } from '../manifest.ts'
import { icons, type Icon } from './icons.ts'

export type Item = {
  id: string
  title: Key
  to: string
  icon: Icon
  collections: boolean
  searchable: boolean
  permission: Permission | undefined
}
export type Section = { title: Key | undefined; items: Item[] }

/** The sections of a dashboard's menu. Consecutive screens with the same group form one section. */
export function menuOf(role: Exclude<Role, 'public'>): Section[] {
  const sections: Section[] = []
  for (const { id, menu, permission, role: own } of screens) {
    if (!menu || (menu.of ?? own) !== role) continue
    const item = {
      id,
      title: menu.title,
      to: pathOf(id),
      icon: icons[id as MenuScreenId],
      collections: menu.collections ?? false,
      searchable: menu.searchable ?? false,
      permission
    }
    const last = sections.at(-1)
    if (last && last.title === menu.group) last.items.push(item)
    else sections.push({ title: menu.group, items: [item] })
  }
  return sections
}

/** The entry of a path, or of the screen that the path's screen is within. */
export function itemAt(menu: Section[], path: string): Item | undefined {
  const screen = screenAt(path)
  return menu.flatMap(section => section.items).find(({ id }) => id === (screen?.within ?? screen?.id))
}

/** The part of a menu that the user's role allows. */
export const allowedOf = (menu: Section[], user: CurrentUser | null): Section[] =>
  menu
    .map(section => ({ ...section, items: section.items.filter(({ permission }) => may(user, permission)) }))
    .filter(section => section.items.length > 0)

export const isAllowed = (path: string, user: CurrentUser | null): boolean => may(user, screenAt(path)?.permission)
