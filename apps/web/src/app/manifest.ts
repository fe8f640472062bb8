import type { Permission } from '@netlet/contract/permissions'
import { pagePaths, type PageId } from '@netlet/contract/pages'
import type { ComponentType } from 'react'
import { matchPath } from 'react-router'
import type { Key } from '../i18n/account.ts'
import { Landing } from '../shop/landing/page.tsx'
import type { ConsolePageId } from './console/pages.ts'
import { lazyPage } from './lazy-page.ts'

/**
 * Who may open a screen. Administrators are redirected from customer screens to the console, and vice versa; `user`:
 * both may.
 */
export type Role = 'public' | 'customer' | 'admin' | 'user'

type Screen = {
  /** The route's name in the specification. */
  id: PageId
  role: Role
  page: ComponentType & { preload?: () => Promise<{ default: ComponentType }> }
  /** The permission that an administrator needs. */
  permission?: Permission
  /** The entry in a dashboard's menu. Consecutive entries with the same group share its title. */
  menu?: {
    /** The menu it appears in, if it differs from `role`. */
    of?: Role
    title: Key
    group?: Key
    /** The order lists of the collections are listed below it. */
    collections?: boolean
    /** Its list accepts `?search=`. */
    searchable?: boolean
  }
  /** For a screen without its own entry: the screen whose title and icon it uses. */
  within?: string
}

/** The console's screens have a separate chunk, to keep their list out of every visitor's first load. */
const consolePage = (id: ConsolePageId) => lazyPage(async () => (await import('./console/pages.ts')).pages[id]())

/**
 * All screens of the app. The router, guards, menus, titles and command palette use this list, and the menus keep its
 * order. Icons are in shell/icons.ts, which only dashboards load.
 */
const list = [
  { id: 'home', role: 'public', page: Landing, menu: { of: 'customer', title: 'menu.home' } },
  { id: 'product', role: 'public', page: lazyPage(() => import('../shop/product/page.tsx')) },
  { id: 'publicRewards', role: 'public', page: lazyPage(() => import('../shop/rewards/page.tsx')) },
  { id: 'empty', role: 'public', page: lazyPage(() => import('../shop/empty/page.tsx')) },
  { id: 'policy', role: 'public', page: lazyPage(() => import('../shop/policy/page.tsx')) },
  { id: 'apiReference', role: 'public', page: lazyPage(() => import('../shop/api-reference/page.tsx')) },
  {
    id: 'unsubscribe',
    role: 'public',
    page: lazyPage(() => import('../shop/unsubscribe/page.tsx'))
  },
  { id: 'status', role: 'public', page: lazyPage(() => import('../shop/status/page.tsx')) },
  { id: 'login', role: 'public', page: lazyPage(() => import('../shop/login/page.tsx')) },
  { id: 'forgot', role: 'public', page: lazyPage(() => import('../shop/forgot/page.tsx')) },
  {
    id: 'createAccount',
    role: 'public',
    page: lazyPage(() => import('../shop/sign-up/page.tsx'))
  },
  {
    id: 'Proxies',
    role: 'customer',
    page: lazyPage(() => import('../account/proxies/page.tsx')),
    menu: { title: 'menu.proxies', collections: true }
  },
  {
    id: 'rewards',
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/page.tsx')),
    menu: { title: 'menu.levels', group: 'menu.rewards' }
  },
  {
    id: 'promocodeUser',
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/promo-codes.tsx')),
    menu: { title: 'menu.promo', group: 'menu.rewards' }
  },
  {
    id: 'giftcardUser',
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/gift-cards.tsx')),
    menu: { title: 'menu.gift', group: 'menu.rewards' }
  },
  {
    id: 'invite',
    role: 'customer',
    page: lazyPage(() => import('../account/invite/page.tsx')),
    menu: { title: 'menu.invite', group: 'menu.account' }
  },
  {
    id: 'receipts',
    role: 'customer',
    page: lazyPage(() => import('../account/receipts/page.tsx')),
    menu: { title: 'menu.receipts', group: 'menu.account' }
  },
  {
    id: 'userSettings',
    role: 'user',
    page: lazyPage(() => import('../account/settings/page.tsx')),
    menu: { of: 'customer', title: 'menu.settings', group: 'menu.account' }
  },
  {
    id: 'support',
    role: 'public',
    page: lazyPage(() => import('../shop/support/page.tsx')),
    menu: { of: 'customer', title: 'menu.help', group: 'menu.account' }
  },

  // The console, in the order of the specification after its first screen: userList, Orders; products: productManager,
  // productType, productTag; rewards: promocode, giftcard, leveldiscount; servers: servers, servergroup, AclManager,
  // AclGroupManager, CIDRManage; tickets, WebsiteSettings, QA, tasks.
  {
    id: 'adminHome',
    role: 'admin',
    permission: 'console.use',
    page: consolePage('adminHome'),
    menu: { title: 'menu.home' }
  },
  {
    id: 'userList',
    role: 'admin',
    permission: 'users.view',
    page: consolePage('userList'),
    menu: { title: 'menu.users', searchable: true }
  },
  {
    id: 'user',
    role: 'admin',
    permission: 'users.view',
    page: consolePage('user'),
    within: 'userList'
  },
  {
    id: 'Orders',
    role: 'admin',
    permission: 'orders.view',
    page: consolePage('Orders'),
    menu: { title: 'menu.orders', searchable: true }
  },
  {
    id: 'order',
    role: 'admin',
    permission: 'orders.view',
    page: consolePage('order'),
    within: 'Orders'
  },
  {
    id: 'payments',
    role: 'admin',
    permission: 'payments.view',
    page: consolePage('payments'),
    menu: { title: 'menu.payments', searchable: true }
  },
  {
    id: 'productManager',
    role: 'admin',
    permission: 'products.view',
    page: consolePage('productManager'),
    menu: { title: 'menu.productManage', group: 'menu.products', searchable: true }
  },
  {
    id: 'productType',
    role: 'admin',
    permission: 'products.view',
    page: consolePage('productType'),
    menu: { title: 'menu.productTypes', group: 'menu.products', searchable: true }
  },
  {
    id: 'productTag',
    role: 'admin',
    permission: 'products.view',
    page: consolePage('productTag'),
    menu: { title: 'menu.productTags', group: 'menu.products', searchable: true }
  },
  {
    id: 'promocode',
    role: 'admin',
    permission: 'rewards.view',
    page: consolePage('promocode'),
    menu: { title: 'menu.promoCodes', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'giftcard',
    role: 'admin',
    permission: 'rewards.view',
    page: consolePage('giftcard'),
    menu: { title: 'menu.giftCards', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'leveldiscount',
    role: 'admin',
    permission: 'rewards.view',
    page: consolePage('leveldiscount'),
    menu: { title: 'menu.levelDiscounts', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'servers',
    role: 'admin',
    permission: 'servers.view',
    page: consolePage('servers'),
    menu: { title: 'menu.servers', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'servergroup',
    role: 'admin',
    permission: 'servers.view',
    page: consolePage('servergroup'),
    menu: { title: 'menu.serverGroups', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'outages',
    role: 'admin',
    permission: 'servers.view',
    page: consolePage('outages'),
    menu: { title: 'menu.outages', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'incidents',
    role: 'admin',
    permission: 'incidents.view',
    page: consolePage('incidents'),
    menu: { title: 'menu.incidents', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'AclManager',
    role: 'admin',
    permission: 'rules.view',
    page: consolePage('AclManager'),
    menu: { title: 'menu.acls', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'AclGroupManager',
    role: 'admin',
    permission: 'rules.view',
    page: consolePage('AclGroupManager'),
    menu: { title: 'menu.aclGroups', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'CIDRManage',
    role: 'admin',
    permission: 'rules.view',
    page: consolePage('CIDRManage'),
    menu: { title: 'menu.cidrs', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'addresses',
    role: 'admin',
    permission: 'addresses.view',
    page: consolePage('addresses'),
    menu: { title: 'menu.addresses', group: 'menu.fleet' }
  },
  {
    id: 'tickets',
    role: 'admin',
    permission: 'tickets.view',
    page: consolePage('tickets'),
    menu: { title: 'menu.tickets', searchable: true }
  },
  {
    id: 'WebsiteSettings',
    role: 'admin',
    permission: 'settings.view',
    page: consolePage('WebsiteSettings'),
    menu: { title: 'menu.webSettings' }
  },
  {
    id: 'QA',
    role: 'admin',
    permission: 'tickets.view',
    page: consolePage('QA'),
    menu: { title: 'menu.qa', searchable: true }
  },
  {
    id: 'tasks',
    role: 'admin',
    permission: 'tasks.view',
    page: consolePage('tasks'),
    menu: { title: 'menu.tasks' }
  },
  {
    id: 'mails',
    role: 'admin',
    permission: 'mails.view',
    page: consolePage('mails'),
    menu: { title: 'menu.mails', searchable: true }
  },
  {
    id: 'webhooks',
    role: 'admin',
    permission: 'webhooks.view',
    page: consolePage('webhooks'),
    menu: { title: 'menu.webhooks', searchable: true }
  },
  {
    id: 'notices',
    role: 'admin',
    permission: 'notices.view',
    page: consolePage('notices'),
    menu: { title: 'menu.notices', group: 'menu.operation' }
  },
  {
    id: 'health',
    role: 'admin',
    permission: 'health.view',
    page: consolePage('health'),
    menu: { title: 'menu.health', group: 'menu.operation' }
  },
  {
    id: 'operators',
    role: 'admin',
    permission: 'users.view',
    page: consolePage('operators'),
    menu: { title: 'menu.operators', group: 'menu.operation' }
  },
  {
    id: 'audit',
    role: 'admin',
    permission: 'audit.view',
    page: consolePage('audit'),
    menu: { title: 'menu.audit', group: 'menu.operation', searchable: true }
  }
] as const satisfies readonly Screen[]

export type ScreenId = (typeof list)[number]['id']
/** Screens with a menu entry, which need a title and an icon. */
export type MenuScreenId = Extract<(typeof list)[number], { menu: object }>['id']

export type Listed = Screen & { id: ScreenId; path: string }

export const screens: readonly Listed[] = list.map((screen: Screen & { id: ScreenId }) => ({
  ...screen,
  path: pagePaths[screen.id]
}))

/** A screen's path without its optional parameters. */
export const pathOf = (id: ScreenId): string => pagePaths[id].replace(/\/:\w+\?$/, '')

const byPath = new Map(screens.map(screen => [pathOf(screen.id), screen]))

/** The screen at a path. `matchPath` compiles its pattern on every call, so we first look up exact paths. */
export const screenAt = (pathname: string): Listed | undefined =>
  byPath.get(pathname) ?? screens.find(({ path }) => matchPath(path, pathname))

/** The start page of a dashboard. */
export const dashboardPath = (admin: boolean): string => pathOf(admin ? 'Orders' : 'Proxies')
