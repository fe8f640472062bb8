import type { Permission } from '@netlet/contract/permissions'
import type { ComponentType } from 'react'
import type { Key } from '../i18n/account.ts'
import { Landing } from '../shop/landing/page.tsx'
import { lazyPage } from './lazy-page.ts'

/** Who may open a screen. What is for customers leads an administrator to the console, and the other way round. */
export type Role = 'public' | 'customer' | 'admin'

type Screen = {
  /** The route's name in the specification. */
  id: string
  /** The whole path; a part that starts with a colon is a parameter, one that ends in a question mark may be missing. */
  path: string
  role: Role
  page: ComponentType & { preload?: () => Promise<{ default: ComponentType }> }
  /** What an administrator's role has to allow. */
  permission?: Permission
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
  /** The screen in a menu that it belongs to, where it is in none itself: title and icon are that one's. */
  within?: string
}

const index = '/dashboard/index'

/**
 * Every screen of the app. The router, the guards, both dashboards' menus with their titles, and the command palette come
 * from this list; the menus' order is the list's. A screen's icon is in shell/icons.ts, which only dashboards load.
 */
const list = [
  { id: 'home', path: '/', role: 'public', page: Landing, menu: { of: 'customer', title: 'menu.home' } },
  { id: 'product', path: '/product', role: 'public', page: lazyPage(() => import('../shop/product/page.tsx')) },
  { id: 'policy', path: '/policy', role: 'public', page: lazyPage(() => import('../shop/policy/page.tsx')) },
  {
    id: 'unsubscribe',
    path: '/unsubscribe',
    role: 'public',
    page: lazyPage(() => import('../shop/unsubscribe/page.tsx'))
  },
  { id: 'login', path: '/login', role: 'public', page: lazyPage(() => import('../shop/login/page.tsx')) },
  {
    id: 'createAccount',
    path: '/createAccount',
    role: 'public',
    page: lazyPage(() => import('../shop/sign-up/page.tsx'))
  },
  {
    id: 'Proxies',
    path: `${index}/proxies/:id?`,
    role: 'customer',
    page: lazyPage(() => import('../account/proxies/page.tsx')),
    menu: { title: 'menu.proxies', collections: true }
  },
  {
    id: 'rewards',
    path: `${index}/rewards`,
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/page.tsx')),
    menu: { title: 'menu.levels', group: 'menu.rewards' }
  },
  {
    id: 'promocodeUser',
    path: `${index}/promocodeUser`,
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/promo-codes.tsx')),
    menu: { title: 'menu.promo', group: 'menu.rewards' }
  },
  {
    id: 'giftcardUser',
    path: `${index}/giftcardUser`,
    role: 'customer',
    page: lazyPage(() => import('../account/rewards/gift-cards.tsx')),
    menu: { title: 'menu.gift', group: 'menu.rewards' }
  },
  {
    id: 'invite',
    path: `${index}/invite`,
    role: 'customer',
    page: lazyPage(() => import('../account/invite/page.tsx')),
    menu: { title: 'menu.invite', group: 'menu.account' }
  },
  {
    id: 'userSettings',
    path: `${index}/setting`,
    role: 'customer',
    page: lazyPage(() => import('../account/settings/page.tsx')),
    menu: { title: 'menu.settings', group: 'menu.account' }
  },
  {
    id: 'support',
    path: '/support',
    role: 'public',
    page: lazyPage(() => import('../shop/support/page.tsx')),
    menu: { of: 'customer', title: 'menu.help', group: 'menu.account' }
  },

  // The console: its first screen, then in the order of the specification: userList, Orders; products: productManager, productType, productTag;
  // rewards: promocode, giftcard, leveldiscount; servers: servers, servergroup, AclManager, AclGroupManager, CIDRManage;
  // tickets, WebsiteSettings, QA, tasks.
  {
    id: 'adminHome',
    path: `${index}/home`,
    role: 'admin',
    permission: 'console.use',
    page: lazyPage(() => import('../admin/home/page.tsx')),
    menu: { title: 'menu.home' }
  },
  {
    id: 'userList',
    path: `${index}/userList`,
    role: 'admin',
    permission: 'users.view',
    page: lazyPage(() => import('../admin/users/page.tsx')),
    menu: { title: 'menu.users', searchable: true }
  },
  {
    id: 'user',
    path: `${index}/users/:id`,
    role: 'admin',
    permission: 'users.view',
    page: lazyPage(() => import('../admin/users/user-page.tsx')),
    within: 'userList'
  },
  {
    id: 'Orders',
    path: `${index}/orders/:username?`,
    role: 'admin',
    permission: 'orders.view',
    page: lazyPage(() => import('../admin/orders/page.tsx')),
    menu: { title: 'menu.orders', searchable: true }
  },
  {
    id: 'order',
    path: `${index}/order/:id`,
    role: 'admin',
    permission: 'orders.view',
    page: lazyPage(() => import('../admin/orders/order-page.tsx')),
    within: 'Orders'
  },
  {
    id: 'payments',
    path: `${index}/payments`,
    role: 'admin',
    permission: 'payments.view',
    page: lazyPage(() => import('../admin/payments/page.tsx')),
    menu: { title: 'menu.payments', searchable: true }
  },
  {
    id: 'productManager',
    path: `${index}/productManager/:product?`,
    role: 'admin',
    permission: 'products.view',
    page: lazyPage(() => import('../admin/products/page.tsx')),
    menu: { title: 'menu.productManage', group: 'menu.products', searchable: true }
  },
  {
    id: 'productType',
    path: `${index}/productType`,
    role: 'admin',
    permission: 'products.view',
    page: lazyPage(() => import('../admin/product-types/page.tsx')),
    menu: { title: 'menu.productTypes', group: 'menu.products', searchable: true }
  },
  {
    id: 'productTag',
    path: `${index}/productTag`,
    role: 'admin',
    permission: 'products.view',
    page: lazyPage(() => import('../admin/product-tags/page.tsx')),
    menu: { title: 'menu.productTags', group: 'menu.products', searchable: true }
  },
  {
    id: 'promocode',
    path: `${index}/promocode`,
    role: 'admin',
    permission: 'rewards.view',
    page: lazyPage(() => import('../admin/promo-codes/page.tsx')),
    menu: { title: 'menu.promoCodes', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'giftcard',
    path: `${index}/giftcard`,
    role: 'admin',
    permission: 'rewards.view',
    page: lazyPage(() => import('../admin/gift-cards/page.tsx')),
    menu: { title: 'menu.giftCards', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'leveldiscount',
    path: `${index}/leveldiscount`,
    role: 'admin',
    permission: 'rewards.view',
    page: lazyPage(() => import('../admin/level-codes/page.tsx')),
    menu: { title: 'menu.levelDiscounts', group: 'menu.rewards', searchable: true }
  },
  {
    id: 'servers',
    path: `${index}/servers`,
    role: 'admin',
    permission: 'servers.view',
    page: lazyPage(() => import('../admin/servers/page.tsx')),
    menu: { title: 'menu.servers', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'servergroup',
    path: `${index}/servergroup`,
    role: 'admin',
    permission: 'servers.view',
    page: lazyPage(() => import('../admin/server-groups/page.tsx')),
    menu: { title: 'menu.serverGroups', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'outages',
    path: `${index}/outages`,
    role: 'admin',
    permission: 'servers.view',
    page: lazyPage(() => import('../admin/outages/page.tsx')),
    menu: { title: 'menu.outages', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'AclManager',
    path: `${index}/AclManager`,
    role: 'admin',
    permission: 'rules.view',
    page: lazyPage(() => import('../admin/rules/page.tsx')),
    menu: { title: 'menu.acls', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'AclGroupManager',
    path: `${index}/AclGroupManager`,
    role: 'admin',
    permission: 'rules.view',
    page: lazyPage(() => import('../admin/rule-groups/page.tsx')),
    menu: { title: 'menu.aclGroups', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'CIDRManage',
    path: `${index}/CIDRManage`,
    role: 'admin',
    permission: 'rules.view',
    page: lazyPage(() => import('../admin/ranges/page.tsx')),
    menu: { title: 'menu.cidrs', group: 'menu.fleet', searchable: true }
  },
  {
    id: 'addresses',
    path: `${index}/addresses`,
    role: 'admin',
    permission: 'addresses.view',
    page: lazyPage(() => import('../admin/addresses/page.tsx')),
    menu: { title: 'menu.addresses', group: 'menu.fleet' }
  },
  {
    id: 'tickets',
    path: `${index}/tickets`,
    role: 'admin',
    permission: 'tickets.view',
    page: lazyPage(() => import('../admin/tickets/page.tsx')),
    menu: { title: 'menu.tickets', searchable: true }
  },
  {
    id: 'WebsiteSettings',
    path: `${index}/WebsiteSettings`,
    role: 'admin',
    permission: 'settings.view',
    page: lazyPage(() => import('../admin/settings/page.tsx')),
    menu: { title: 'menu.webSettings' }
  },
  {
    id: 'QA',
    path: `${index}/QA`,
    role: 'admin',
    permission: 'tickets.view',
    page: lazyPage(() => import('../admin/faqs/page.tsx')),
    menu: { title: 'menu.qa', searchable: true }
  },
  {
    id: 'tasks',
    path: `${index}/tasks`,
    role: 'admin',
    permission: 'tasks.view',
    page: lazyPage(() => import('../admin/tasks/page.tsx')),
    menu: { title: 'menu.tasks' }
  },
  {
    id: 'mails',
    path: `${index}/mails`,
    role: 'admin',
    permission: 'mails.view',
    page: lazyPage(() => import('../admin/mails/page.tsx')),
    menu: { title: 'menu.mails', searchable: true }
  },
  {
    id: 'health',
    path: `${index}/health`,
    role: 'admin',
    permission: 'health.view',
    page: lazyPage(() => import('../admin/health/page.tsx')),
    menu: { title: 'menu.health', group: 'menu.operation' }
  },
  {
    id: 'operators',
    path: `${index}/operators`,
    role: 'admin',
    permission: 'users.view',
    page: lazyPage(() => import('../admin/operators/page.tsx')),
    menu: { title: 'menu.operators', group: 'menu.operation' }
  },
  {
    id: 'audit',
    path: `${index}/audit`,
    role: 'admin',
    permission: 'audit.view',
    page: lazyPage(() => import('../admin/audit/page.tsx')),
    menu: { title: 'menu.audit', group: 'menu.operation', searchable: true }
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
