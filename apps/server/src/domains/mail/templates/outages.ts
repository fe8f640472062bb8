import { aboutEn, aboutZh, EN, type Gathered, shared, ZH } from './changes.ts'
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
  'addresses-changed': template<Gathered<{ addresses: number }>>({
    kind: 'proxies',
    many: true,
    sample: { ...sample, addresses: 8 },
    content: {
      en: (data, shop) => ({
        subject: `Some of your addresses are changing: ${aboutEn(data)}`,
        heading: `Hello ${data.username}, some of your addresses are changing`,
        ...shared(EN, data, shop, {
          paragraphs: [
            'We are taking a server out of use, so we are replacing some of your addresses. The old ones stop working as soon as the new ones are ready.',
            'The password stays the same. Please download your proxy list again.'
          ],
          factsOf: ({ addresses }) => [['Changing addresses', String(addresses)]]
        })
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的部分地址将变更：${aboutZh(data)}`,
        heading: `${data.username}，您好，您的部分地址将变更`,
        ...shared(ZH, data, shop, {
          paragraphs: [
            '我们将停用一台服务器，因此您的部分地址会被替换。新地址就绪后，旧地址将停止工作。',
            '密码保持不变，请重新获取您的代理列表。'
          ],
          factsOf: ({ addresses }) => [['变更的地址数量', String(addresses)]]
        })
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
    Gathered<{ from: string; to: string; minutes: number; expires_at: string; incident?: Incident | null }>
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
        subject: `We credited you for an outage: ${aboutEn(data)}`,
        heading: `Hello ${data.username}, we credited you for an outage`,
        ...shared(EN, data, shop, {
          paragraphs: [
            'A server with some of your addresses did not respond for a while. We are sorry, and have added that time to your term.',
            ...(data.incident ? [`What happened: ${incidentLink(data.incident, shop.shopUrl)}`] : [])
          ],
          factsOf: ({ from, to, minutes, expires_at }) => [
            ['Outage', `${day(from)} – ${day(to)}`],
            ['Added', minutes === 1 ? '1 minute' : `${minutes} minutes`],
            ['Valid until', day(expires_at)]
          ]
        })
      }),
      'zh-CN': (data, shop) => ({
        subject: `我们已补偿故障时间：${aboutZh(data)}`,
        heading: `${data.username}，您好，我们已补偿故障时间`,
        ...shared(ZH, data, shop, {
          paragraphs: [
            '为您提供部分地址的一台服务器曾一段时间没有响应，深表歉意。您的租期已相应延长。',
            ...(data.incident ? [`事件说明：${incidentLink(data.incident, shop.shopUrl)}`] : [])
          ],
          factsOf: ({ from, to, minutes, expires_at }) => [
            ['故障时间', `${day(from)} – ${day(to)}`],
            ['延长', `${minutes} 分钟`],
            ['有效期至', day(expires_at)]
          ]
        })
      })
    }
  })
}
