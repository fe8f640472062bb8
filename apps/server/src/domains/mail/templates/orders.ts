import { day, daysEn, daysZh, sender, template } from './define.ts'

type OrderMail = { username: string; order_id: string; product_name: string; proxies: number; expires_at: string }

const sample: OrderMail = {
  username: 'demo1',
  order_id: 'NL-7k2m9x4c8v3b6n1q',
  product_name: 'Metro ISP · New York',
  proxies: 8,
  expires_at: '2026-02-04T10:00:00.000Z'
}

export const orderTemplates = {
  'proxies-delivered': template<OrderMail & { dashboard_url: string }>({
    kind: 'proxies',
    sample: { ...sample, dashboard_url: 'https://shop.example.com/dashboard/index/proxies' },
    content: {
      en: (data, shop) => ({
        subject: `Your proxies are ready: ${data.product_name}`,
        heading: `Hello ${data.username}, your proxies are ready`,
        paragraphs: ['All proxies of your order are live. Find the list with the credentials in your dashboard.'],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Proxies', String(data.proxies)],
          ['Valid until', day(data.expires_at)]
        ],
        button: { label: 'Show my proxies', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的代理已就绪：${data.product_name}`,
        heading: `${data.username}，您好，您的代理已就绪`,
        paragraphs: ['订单中的所有地址均已可用。完整列表及凭据请在控制台查看。'],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['代理数量', String(data.proxies)],
          ['有效期至', day(data.expires_at)]
        ],
        button: { label: '查看我的代理', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'expiry-reminder': template<OrderMail & { last: boolean; renewal_days?: number; renew_url: string }>({
    kind: 'expiry',
    sample: {
      ...sample,
      last: false,
      renewal_days: 30,
      renew_url: 'https://shop.example.com/dashboard/index/proxies?renew=1'
    },
    content: {
      en: (data, shop) => ({
        subject: `Your proxies expire on ${day(data.expires_at)}`,
        heading: data.last
          ? `Hello ${data.username}, your proxies are about to expire`
          : `Hello ${data.username}, your proxies expire soon`,
        paragraphs: ['Renew now to keep the same proxies without a break. They stop working when the order expires.'],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Proxies', String(data.proxies)],
          ['Expires', day(data.expires_at)],
          ...daysEn('A renewal adds', data.renewal_days)
        ],
        button: { label: 'Renew this order', url: data.renew_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的代理将于 ${day(data.expires_at)} 到期`,
        heading: data.last ? `${data.username}，您好，您的代理马上到期` : `${data.username}，您好，您的代理即将到期`,
        paragraphs: ['立即续费，相同的代理即可不间断地继续使用。订单到期后，代理将停止工作。'],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['代理数量', String(data.proxies)],
          ['到期时间', day(data.expires_at)],
          ...daysZh('续费增加时长', data.renewal_days)
        ],
        button: { label: '续费此订单', url: data.renew_url },
        footer: sender(shop)
      })
    }
  })
}
