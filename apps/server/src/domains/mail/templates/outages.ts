import { day, sender, template } from './define.ts'

type OrderMail = { username: string; order_id: string; product_name: string }

const sample: OrderMail = {
  username: 'demo1',
  order_id: 'NL-7k2m9x4c8v3b6n1q',
  product_name: 'Metro ISP · New York'
}

/** On the status page. Mails queued by old versions have none. */
type Incident = { id: number; title: string }
const incidentLink = ({ id, title }: Incident, shopUrl: string): string => `${title}\n${shopUrl}/status?incident=${id}`

const dashboard = (shopUrl: string): string => `${shopUrl}/dashboard/index/proxies`

export const outageTemplates = {
  'addresses-changed': template<OrderMail & { addresses: number }>({
    kind: 'proxies',
    many: true,
    sample: { ...sample, addresses: 8 },
    content: {
      en: (data, shop) => ({
        subject: `Some addresses of your order are changing: ${data.product_name}`,
        heading: `Hello ${data.username}, some of your addresses are changing`,
        paragraphs: [
          'We are taking a server out of use, so we are replacing some addresses of your order. The old ones stop working as soon as the new ones are ready.',
          'The password stays the same. Please download your proxy list again.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Changing addresses', String(data.addresses)]
        ],
        button: { label: 'Show my proxies', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的订单地址将变更：${data.product_name}`,
        heading: `${data.username}，您好，您的部分地址将变更`,
        paragraphs: [
          '我们将停用一台服务器，因此您订单中的部分地址会被替换。新地址就绪后，旧地址将停止工作。',
          '密码保持不变，请重新获取您的代理列表。'
        ],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['变更的地址数量', String(data.addresses)]
        ],
        button: { label: '查看我的代理', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      })
    }
  }),
  'server-outage': template<OrderMail & { addresses: number; since: string }>({
    kind: 'proxies',
    many: true,
    sample: { ...sample, addresses: 8, since: '2026-02-01T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: `Some of your proxies are down: ${data.product_name}`,
        heading: `Hello ${data.username}, a server is not responding`,
        paragraphs: [
          'A server with addresses of your order is not responding, and we are working on it. Your proxies work again as soon as it is back.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Affected addresses', String(data.addresses)],
          ['Since', day(data.since)]
        ],
        button: { label: 'Show my proxies', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的部分代理暂时无法使用：${data.product_name}`,
        heading: `${data.username}，您好，一台服务器没有响应`,
        paragraphs: ['为您的订单提供地址的一台服务器没有响应，我们正在处理。恢复后您的代理会自动可用。'],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['受影响的地址数量', String(data.addresses)],
          ['开始时间', day(data.since)]
        ],
        button: { label: '查看我的代理', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      })
    }
  }),
  'outage-credited': template<
    OrderMail & { from: string; to: string; minutes: number; expires_at: string; incident?: Incident | null }
  >({
    kind: 'proxies',
    many: true,
    sample: {
      ...sample,
      from: '2026-02-01T10:00:00.000Z',
      to: '2026-02-01T14:30:00.000Z',
      minutes: 270,
      expires_at: '2026-02-04T14:30:00.000Z',
      incident: { id: 7, title: 'New York: addresses do not respond' }
    },
    content: {
      en: (data, shop) => ({
        subject: `We extended your order: ${data.product_name}`,
        heading: `Hello ${data.username}, we credited you for an outage`,
        paragraphs: [
          'A server with addresses of your order did not respond for a while. We are sorry, and have extended your order by that time.',
          ...(data.incident ? [`What happened: ${incidentLink(data.incident, shop.shopUrl)}`] : [])
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Outage', `${day(data.from)} – ${day(data.to)}`],
          ['Added', data.minutes === 1 ? '1 minute' : `${data.minutes} minutes`],
          ['Valid until', day(data.expires_at)]
        ],
        button: { label: 'Show my proxies', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的订单已延长：${data.product_name}`,
        heading: `${data.username}，您好，我们已补偿故障时间`,
        paragraphs: [
          '为您的订单提供地址的一台服务器曾有一段时间没有响应，我们深表歉意，并已相应延长您的订单。',
          ...(data.incident ? [`事件说明：${incidentLink(data.incident, shop.shopUrl)}`] : [])
        ],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['故障时间', `${day(data.from)} – ${day(data.to)}`],
          ['延长', `${data.minutes} 分钟`],
          ['有效期至', day(data.expires_at)]
        ],
        button: { label: '查看我的代理', url: dashboard(shop.shopUrl) },
        footer: sender(shop)
      })
    }
  })
}
