/**
 * The path of every page, by the route's name in the specification. The web app's router has a page for each; the
 * server answers 404 elsewhere. A part that starts with a colon is a parameter; one that ends in a question mark is
 * optional.
 */
export const pagePaths = {
  home: '/',
  product: '/product',
  publicRewards: '/rewards',
  empty: '/empty',
  policy: '/policy',
  unsubscribe: '/unsubscribe',
  status: '/status',
  apiReference: '/api-reference',
  login: '/login',
  forgot: '/forgot',
  createAccount: '/createAccount',
  Proxies: '/dashboard/index/proxies/:id?',
  rewards: '/dashboard/index/rewards',
  promocodeUser: '/dashboard/index/promocodeUser',
  giftcardUser: '/dashboard/index/giftcardUser',
  invite: '/dashboard/index/invite',
  userSettings: '/dashboard/index/setting',
  receipts: '/dashboard/index/receipts/:order?',
  support: '/support',
  adminHome: '/dashboard/index/home',
  userList: '/dashboard/index/userList',
  user: '/dashboard/index/users/:id',
  Orders: '/dashboard/index/orders/:username?',
  order: '/dashboard/index/order/:id',
  payments: '/dashboard/index/payments',
  productManager: '/dashboard/index/productManager/:product?',
  productType: '/dashboard/index/productType',
  productTag: '/dashboard/index/productTag',
  promocode: '/dashboard/index/promocode',
  giftcard: '/dashboard/index/giftcard',
  leveldiscount: '/dashboard/index/leveldiscount',
  servers: '/dashboard/index/servers',
  servergroup: '/dashboard/index/servergroup',
  outages: '/dashboard/index/outages',
  incidents: '/dashboard/index/incidents',
  AclManager: '/dashboard/index/AclManager',
  AclGroupManager: '/dashboard/index/AclGroupManager',
  CIDRManage: '/dashboard/index/CIDRManage',
  addresses: '/dashboard/index/addresses',
  tickets: '/dashboard/index/tickets',
  WebsiteSettings: '/dashboard/index/WebsiteSettings',
  QA: '/dashboard/index/QA',
  tasks: '/dashboard/index/tasks',
  mails: '/dashboard/index/mails',
  webhooks: '/dashboard/index/webhooks',
  notices: '/dashboard/index/notices',
  health: '/dashboard/index/health',
  operators: '/dashboard/index/operators',
  audit: '/dashboard/index/audit'
} as const

export type PageId = keyof typeof pagePaths

/** A page's path with its parameters. A missing optional part is omitted. */
export const pageAt = (page: PageId, params: Readonly<Record<string, string | number>> = {}): string =>
  pagePaths[page].replace(/\/:(\w+)(\??)/g, (_part, name: string, optional: string) => {
    const value = params[name]
    if (value === undefined && !optional) throw new RangeError(`${page} needs ${name}`)
    return value === undefined ? '' : `/${encodeURIComponent(value)}`
  })
