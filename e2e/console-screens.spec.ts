import { violations } from './axe.ts'
import type { Order, SyncRun } from '@netlet/contract'
import { asAdmin, buy, call, signedIn } from './console.ts'
import { shotsOf } from '../scripts/shots/screens.ts'
import { TABS } from '../apps/web/src/admin/users/tabs.ts'
import { expect, test, type RunningShop } from './shop.ts'

/** One order is enough for all of them. */
let bought: { url: string; order: Promise<Order> } | undefined
const anOrder = (shop: RunningShop): Promise<Order> => {
  if (bought?.url !== shop.url) bought = { url: shop.url, order: buy(shop) }
  return bought.order
}

/** A plan of a sync of everything, which its screen shows. */
async function aPlan(shop: RunningShop): Promise<void> {
  const [admin, path] = [await signedIn(shop, 'admin'), '/api/products/sync/runs/']
  const newest = async () => (await call<SyncRun[]>(admin, 'get', path)).find(({ what }) => what === 'catalogue')?.state
  if ((await newest()) !== 'ready') await call(admin, 'post', path, { what: 'catalogue' })
  await expect.poll(newest, { timeout: 30_000 }).toBe('ready')
  await admin.dispose()
}

// Both languages, colours and widths, each in one of two: every screen in every look would take a quarter of an hour.
const looks = [
  ['en', 'light', 390],
  ['zh-CN', 'dark', 1440]
] as const

/** Widths that each screen has to fit as well: as a tablet has, and a large monitor. */
const BESIDE = [768, 2560]

/** The screens by parts of the menu, with a text that shows that each is there. */
const parts: [
  name: string,
  screens: (order: Order, shop: RunningShop) => (readonly [screen: string, shown: string | RegExp])[]
][] = [
  [
    'orders, payments and users',
    (order, shop) => [
      ['orders', order.order_id],
      [`order/${order.id}`, '127.10.'],
      ['home', 'New York'],
      ['payments', order.order_id],
      ['payments?open=1', order.order_id],
      ['userList', shop.customer.username],
      ['userList?form=edit.2', 'Discord']
    ]
  ],
  ['the tabs of a user', (_, shop) => TABS.map(tab => [`users/2?tab=${tab}`, shop.customer.username] as const)],
  [
    'products and rewards',
    () => [
      ['productManager', 'Metro ISP'],
      ['productManager/1', 'London / Block of 8'],
      ['productManager/new', /Nothing left to add|没有可添加的产品/],
      // What the demo's platform has changed.
      ['productManager?sync=true', 'Arcade Gaming Datacenter'],
      ['productType', 'ISP Proxies'],
      ['productType?sync=true', 'ISP Proxies'],
      ['productTag', 'Gaming'],
      ['productTag?form=edit.1', 'Gaming'],
      ['promocode', /Promo Code|优惠码/],
      ['promocode?form=new', /Add promo code|添加优惠码/],
      ['leveldiscount', 'Silver'],
      ['giftcard', 'DEMO-GIFT']
    ]
  ],
  [
    'servers and their groups',
    () => [
      ['servers', 'Local agent'],
      ['servers?open=1', '127.0.0.1'],
      ['servers?form=edit.1', 'update_cidr'],
      ['servers?detail=1', '"proxy_port"'],
      ['outages', /No outages yet|暂无故障/],
      ['servergroup', 'New York'],
      ['servergroup?form=edit.1', 'New York']
    ]
  ],
  [
    'rules, ranges and who had an address',
    order => [
      ['AclManager', 'nike.com'],
      ['AclManager?form=new', 'Shopify'],
      ['AclGroupManager', /Acl Group Manage|规则组/],
      ['AclGroupManager?form=new', 'Ticketmaster'],
      ['CIDRManage', '127.10.0.0/16'],
      ['CIDRManage?detail=1', '127.10.0.0/24'],
      ['CIDRManage?form=edit.1', '127.10.0.0/16'],
      ['addresses?address=127.10.0.1', '127.10.0.0/16'],
      ['addresses?address=127.10.0.0/20', order.order_id]
    ]
  ],
  [
    'tickets, questions and settings',
    () => [
      ['tickets', /No tickets yet|暂无工单/],
      ['QA', 'How do I use a proxy?'],
      ['WebsiteSettings?tab=discord', /Client id|客户端 ID/],
      ['WebsiteSettings?tab=system', 'Twitter'],
      ['WebsiteSettings?tab=email', /Sending domain|发件域/],
      ['WebsiteSettings?tab=geofeed', /Where servers stand|服务器位置/],
      ['WebsiteSettings?tab=logs', /Server log|服务器日志/]
    ]
  ],
  [
    'tasks, mails, health, operators and the audit log',
    (_, shop) => [
      ['operators', shop.admin.username],
      ['tasks', 'expire-orders'],
      ['tasks?tab=queues', 'send-mail'],
      ['audit', /^\w+\.\w+$/],
      ['tasks?tab=dead', /Dead letters|失败任务/],
      ['health', 'http://127.0.0.1'],
      ['mails', shop.customer.username],
      ['mails?tab=blocked', /Every address is written to|所有地址/]
    ]
  ],
  [
    'notices, webhooks and incidents',
    (_, shop) => [
      ['notices', /^(Notices|通知)$/],
      ['notices?tab=channels', new URL(shop.platformUrl).host],
      ['notices?tab=rules', /Quiet hours|免打扰时段/],
      ['webhooks', '/hooks/in/demo1'],
      ['webhooks?tab=endpoints', /The operators' own endpoints|运营人员的端点/],
      ['incidents', /No incidents yet|暂无事件/],
      ['incidents?form=new', /Plain text. Everybody sees it|订阅者/]
    ]
  ]
]

test('every screen of the console is among these', async () => {
  // Their names do not depend on what is shown there.
  const order = { id: 1, order_id: 'NL-1' } as Order
  const account = { username: 'somebody', password: '' }
  const shop = { customer: account, admin: account, platformUrl: 'http://127.0.0.1' } as RunningShop
  const nameOf = (path: string) => path.replace(/^\/dashboard\/index\//, '').split(/[/?]/)[0]
  const walked = new Set(parts.flatMap(([, screensOf]) => screensOf(order, shop).map(([screen]) => nameOf(screen))))
  const all = await shotsOf('admin', { product: 1, user: 2, order: order.id, own: order.id, collection: 1 })
  expect(all.length).toBeGreaterThan(25)
  expect(all.map(({ path }) => nameOf(path)).filter(name => !walked.has(name ?? ''))).toEqual([])
})

for (const [part, screensOf] of parts) {
  for (const [locale, colorScheme, width] of looks) {
    test(`${part} are accessible and fit their width: ${locale}, ${colorScheme}, ${width} px`, async ({
      browser,
      shop
    }) => {
      test.setTimeout(240_000)
      const screens = screensOf(await anOrder(shop), shop)
      if (screens.some(([screen]) => screen.includes('sync='))) await aPlan(shop)
      const context = await browser.newContext({
        locale,
        colorScheme,
        reducedMotion: 'reduce',
        viewport: { width, height: 900 }
      })
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', error => errors.push(`${page.url()}: ${error.message}`))
      await asAdmin(page, shop)
      for (const [screen, shown] of screens) {
        await page.goto(`${shop.url}/dashboard/index/${screen}`)
        await expect(page.getByText(shown).filter({ visible: true }).first()).toBeVisible()
        await page.waitForLoadState('networkidle')
        expect.soft(await violations(page), screen).toEqual([])
        for (const size of [width, ...BESIDE]) {
          await page.setViewportSize({ width: size, height: 900 })
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
          expect.soft(wide, `${screen} is wider than a window of ${size} px`).toBeLessThanOrEqual(0)
        }
        await page.setViewportSize({ width, height: 900 })
      }
      expect(errors).toEqual([])
      await context.close()
    })
  }
}
