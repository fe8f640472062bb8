import { matchPath } from 'react-router'
import type { Key } from '../../i18n/account.ts'
import { pathOf, screens, type MenuScreenId, type Role } from '../manifest.ts'
import { icons, type Icon } from './icons.ts'

export type Item = {
  id: string
  title: Key
  to: string
  pattern: string
  icon: Icon
  collections: boolean
  searchable: boolean
}
export type Section = { title: Key | undefined; items: Item[] }

/** The menu of a dashboard: neighbours with the same group are one section. */
export function menuOf(role: Exclude<Role, 'public'>): Section[] {
  const sections: Section[] = []
  for (const { id, path, menu, role: own } of screens) {
    if (!menu || (menu.of ?? own) !== role) continue
    const item = {
      id,
      title: menu.title,
      to: pathOf(id),
      pattern: path,
      icon: icons[id as MenuScreenId],
      collections: menu.collections ?? false,
      searchable: menu.searchable ?? false
    }
    const last = sections.at(-1)
    if (last && last.title === menu.group) last.items.push(item)
    else sections.push({ title: menu.group, items: [item] })
  }
  return sections
}

/** The entry that a path belongs to. */
export const itemAt = (menu: Section[], path: string): Item | undefined =>
  menu.flatMap(section => section.items).find(({ pattern }) => matchPath(pattern, path))
