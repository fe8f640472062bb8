import { lazy, type ComponentType } from 'react'
import type { Key } from '../i18n/account.ts'
import { Landing } from '../shop/landing/page.tsx'

/** Who may open a screen. What is for customers leads an administrator to the console, and the other way round. */
export type Role = 'public' | 'customer' | 'admin'

type Screen = {
  /** The route's name in the specification. */
  id: string
  /** The whole path; a part that starts with a colon is a parameter, one that ends in a question mark may be missing. */
  path: string
  role: Role
  page: ComponentType
  /** The entry in a dashboard's menu. Entries with the same group stand together below its title. */
  menu?: {
    /** Whose menu, where it is not the role's own. */
    of?: Role
    title: Key
    group?: Key
    /** The order lists of the collections follow below it. */
    collections?: boolean
    /** Its list takes `?search=`. */
    searchable?: boolean
  }
}

const index = '/dashboard/index'

/**
 * Every screen of the app. The router, the guards, both dashboards' menus with their titles, and the command palette come
 * from this list; the menus' order is the list's. A screen's icon is in shell/icons.ts, which only dashboards load.
 */
const list = [
  { id: 'home', path: '/', role: 'public', page: Landing, menu: { of: 'customer', title: 'menu.home' } },
  { id: 'product', path: '/product', role: 'public', page: lazy(() => import('../shop/product/page.tsx')) },
  { id: 'policy', path: '/policy', role: 'public', page: lazy(() => import('../shop/policy/page.tsx')) },
  {
    id: 'unsubscribe',
    path: '/unsubscribe',
    role: 'public',
    page: lazy(() => import('../shop/unsubscribe/page.tsx'))
  },
  { id: 'login', path: '/login', role: 'public', page: lazy(() => import('../shop/login/page.tsx')) },
  { id: 'createAccount', path: '/createAccount', role: 'public', page: lazy(() => import('../shop/sign-up/page.tsx')) },
  {
    id: 'Proxies',
    path: `${index}/proxies/:id?`,
    role: 'customer',
    page: lazy(() => import('../account/proxies/page.tsx')),
    menu: { title: 'menu.proxies', collections: true }
  },
  {
    id: 'rewards',
    path: `${index}/rewards`,
    role: 'customer',
    page: lazy(() => import('../account/rewards/page.tsx')),
    menu: { title: 'menu.levels', group: 'menu.rewards' }
  },
  {
    id: 'promocodeUser',
    path: `${index}/promocodeUser`,
    role: 'customer',
    page: lazy(() => import('../account/rewards/promo-codes.tsx')),
    menu: { title: 'menu.promo', group: 'menu.rewards' }
  },
  {
    id: 'giftcardUser',
    path: `${index}/giftcardUser`,
    role: 'customer',
    page: lazy(() => import('../account/rewards/gift-cards.tsx')),
    menu: { title: 'menu.gift', group: 'menu.rewards' }
  },
  {
    id: 'invite',
    path: `${index}/invite`,
    role: 'customer',
    page: lazy(() => import('../account/invite/page.tsx')),
    menu: { title: 'menu.invite', group: 'menu.account' }
  },
  {
    id: 'userSettings',
    path: `${index}/setting`,
    role: 'customer',
    page: lazy(() => import('../account/settings/page.tsx')),
    menu: { title: 'menu.settings', group: 'menu.account' }
  },
  {
    id: 'support',
    path: '/support',
    role: 'public',
    page: lazy(() => import('../shop/support/page.tsx')),
    menu: { of: 'customer', title: 'menu.help', group: 'menu.account' }
  },

  // The console, in the order of the specification: userList, Orders; products: productManager, productType, productTag;
  // rewards: promocode, giftcard, leveldiscount; servers: servers, servergroup, AclManager, AclGroupManager, CIDRManage;
  // tickets, WebsiteSettings, QA, tasks.
  {
    id: 'Orders',
    path: `${index}/orders/:username?`,
    role: 'admin',
    page: lazy(() => import('../admin/orders/page.tsx')),
    menu: { title: 'menu.orders', searchable: true }
  },
  {
    id: 'payments',
    path: `${index}/payments`,
    role: 'admin',
    page: lazy(() => import('../admin/payments/page.tsx')),
    menu: { title: 'menu.payments', searchable: true }
  },
  {
    id: 'giftcard',
    path: `${index}/giftcard`,
    role: 'admin',
    page: lazy(() => import('../admin/gift-cards/page.tsx')),
    menu: { title: 'menu.giftCards', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'mails',
    path: `${index}/mails`,
    role: 'admin',
    page: lazy(() => import('../admin/mails/page.tsx')),
    menu: { title: 'menu.mails', searchable: true }
  },
  {
    id: 'health',
    path: `${index}/health`,
    role: 'admin',
    page: lazy(() => import('../admin/health/page.tsx')),
    menu: { title: 'menu.health', group: 'menu.operation' }
  }
] as const satisfies readonly Screen[]

export type ScreenId = (typeof list)[number]['id']
/** The screens that are in a menu, and so have a title and an icon. */
export type MenuScreenId = Extract<(typeof list)[number], { menu: object }>['id']

export const screens: readonly (Screen & { id: ScreenId })[] = list

/** The path of a screen without its optional parameters. */
export const pathOf = (id: ScreenId): string =>
  (screens.find(screen => screen.id === id)?.path ?? '/').replace(/\/:\w+\?$/, '')

/** Where a dashboard begins. */
export const dashboardPath = (admin: boolean): string => pathOf(admin ? 'Orders' : 'Proxies')
