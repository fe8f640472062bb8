import type { Order, SyncRun } from '@netlet/contract'
import { TABS } from '../apps/web/src/admin/users/tabs.ts'
import { call, signedIn } from './calls.ts'
import { expect, type RunningShop } from './shop.ts'

/** A screen of the console, and a text that appears with its rows. */
export type ConsoleScreen = readonly [screen: string, shown: string | RegExp]

/** Every screen of the console in each state that has an address. */
export const consoleScreens = (order: Order, { customer, admin, platformUrl }: RunningShop): ConsoleScreen[] => [
  ['orders', order.order_id],
  [`order/${order.id}`, '127.10.'],
  ['home', 'New York'],
  ['payments', order.order_id],
  ['payments?open=1', order.order_id],
  ['userList', customer.username],
  ['userList?form=edit.2', 'Discord'],
  ...TABS.map(tab => [`users/2?tab=${tab}`, customer.username] as const),
  ['productManager', 'Metro ISP'],
  ['productManager/1', 'London / Block of 8'],
  ['productManager/new', /No products left to add|没有可添加的产品/],
  // The changes on the demo's platform.
  ['productManager?sync=true', 'Arcade Gaming Datacenter'],
  ['productType', 'ISP Proxies'],
  ['productType?sync=true', 'ISP Proxies'],
  ['productTag', 'Gaming'],
  ['productTag?form=edit.1', 'Gaming'],
  ['promocode', /Promo Code|优惠码/],
  ['promocode?form=new', /Add promo code|添加优惠码/],
  ['leveldiscount', 'Silver'],
  ['giftcard', 'DEMO-GIFT'],
  ['servers', 'Local agent'],
  ['servers?open=1', '127.0.0.1'],
  ['servers?form=edit.1', 'update_cidr'],
  ['servers?detail=1', '"proxy_port"'],
  ['outages', /No outages yet|暂无故障/],
  ['servergroup', 'New York'],
  ['servergroup?form=edit.1', 'New York'],
  ['AclManager', 'nike.com'],
  ['AclManager?form=new', 'Shopify'],
  ['AclGroupManager', /Acl Group Manage|规则组/],
  ['AclGroupManager?form=new', 'Ticketmaster'],
  ['CIDRManage', '127.10.0.0/16'],
  ['CIDRManage?detail=1', '127.10.0.0/24'],
  ['CIDRManage?form=edit.1', '127.10.0.0/16'],
  ['addresses?address=127.10.0.1', '127.10.0.0/16'],
  ['addresses?address=127.10.0.0/20', order.order_id],
  ['tickets', /No tickets yet|暂无工单/],
  ['tickets?tab=replies', /No saved replies yet|还没有常用回复/],
  ['QA', 'How do I use a proxy?'],
  ['WebsiteSettings?tab=discord', /Client ID|客户端 ID/],
  ['WebsiteSettings?tab=system', 'Twitter'],
  ['WebsiteSettings?tab=email', /Sending domain|发件域/],
  ['WebsiteSettings?tab=geofeed', /Server locations|服务器位置/],
  ['WebsiteSettings?tab=logs', /Server log|服务器日志/],
  ['operators', admin.username],
  ['setting', /Add an authenticator app|添加验证器应用/],
  ['tasks', 'expire-orders'],
  ['tasks?tab=queues', 'send-mail'],
  ['tasks?tab=dead', /Failed jobs|失败任务/],
  ['audit', /^\w+\.\w+$/],
  ['health', 'http://127.0.0.1'],
  ['mails', customer.username],
  ['mails?tab=blocked', /No blocked addresses|没有已屏蔽的地址/],
  ['notices', /^(Notices|通知)$/],
  ['notices?tab=channels', platformUrl.replace('http://', '')],
  ['notices?tab=rules', /Quiet hours|免打扰时段/],
  ['webhooks', '/hooks/in/demo1'],
  ['webhooks?tab=endpoints', /Endpoints for operators|管理员的端点/],
  ['incidents', /No incidents yet|暂无事件/],
  ['incidents?form=new', /Plain text. It appears|订阅者/]
]

/** Makes a plan of a catalogue sync, which its screen then shows. */
export async function aPlan(shop: RunningShop): Promise<void> {
  const [admin, path] = [await signedIn(shop, 'admin'), '/api/products/sync/runs/']
  const newest = async () => (await call<SyncRun[]>(admin, 'get', path)).find(({ what }) => what === 'catalogue')?.state
  if ((await newest()) !== 'ready') await call(admin, 'post', path, { what: 'catalogue' })
  await expect.poll(newest).toBe('ready')
  await admin.dispose()
}
