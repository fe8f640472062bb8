import {
  IconGift,
  IconHome,
  IconLifebuoy,
  IconReceipt,
  IconServer2,
  IconSettings,
  IconTicket,
  IconTrophy,
  IconUsersPlus
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Key } from '../../i18n/account.ts'

export type Item = {
  key: Key
  to: string
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** Stands for every path below it, too. */
  deep?: boolean
  /** The order lists of the collections follow below it. */
  collections?: boolean
}
export type Section = { title?: Key; items: Item[] }

const base = '/dashboard/index'

export const customerMenu: Section[] = [
  {
    items: [
      { key: 'menu.home', to: '/', icon: IconHome },
      { key: 'menu.proxies', to: `${base}/proxies`, icon: IconServer2, deep: true, collections: true }
    ]
  },
  {
    title: 'menu.rewards',
    items: [
      { key: 'menu.levels', to: `${base}/rewards`, icon: IconTrophy },
      { key: 'menu.promo', to: `${base}/promocodeUser`, icon: IconTicket },
      { key: 'menu.gift', to: `${base}/giftcardUser`, icon: IconGift }
    ]
  },
  {
    title: 'menu.account',
    items: [
      { key: 'menu.invite', to: `${base}/invite`, icon: IconUsersPlus },
      { key: 'menu.settings', to: `${base}/setting`, icon: IconSettings },
      { key: 'menu.help', to: '/support', icon: IconLifebuoy }
    ]
  }
]

export const adminMenu: Section[] = [
  {
    items: [
      { key: 'menu.orders', to: `${base}/orders`, icon: IconReceipt, deep: true },
      { key: 'menu.gift', to: `${base}/giftcard`, icon: IconGift }
    ]
  }
]

/** The entry that a path belongs to. */
export const entryOf = (menu: Section[], path: string) =>
  menu.flatMap(section => section.items).find(item => item.to === path || (item.deep && path.startsWith(`${item.to}/`)))
