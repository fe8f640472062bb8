import { sender, template } from './define.ts'

type TrafficUsed = {
  username: string
  order_id: string
  product_name: string
  /** Percent. */
  share: number
  /** Bytes. */
  used: number
  allowed: number
  renew_url: string
}

/** '12.5 GB', as plans count them: 10^9 bytes. */
const gigabytes = (bytes: number): string => `${Number((bytes / 1_000_000_000).toFixed(1))} GB`

export const trafficTemplates = {
  'traffic-used': template<TrafficUsed>({
    kind: 'expiry',
    sample: {
      username: 'demo1',
      order_id: 'NL-7k2m9x4c8v3b6n1q',
      product_name: 'Metro ISP · New York',
      share: 80,
      used: 80_400_000_000,
      allowed: 100_000_000_000,
      renew_url: 'https://shop.example.com/dashboard/index/proxies?renew=1'
    },
    content: {
      en: (data, shop) => ({
        subject:
          data.share < 100
            ? `${data.share}% of your traffic is used: ${data.product_name}`
            : `Your traffic is used up: ${data.product_name}`,
        heading:
          data.share < 100
            ? `Hello ${data.username}, ${data.share}% of your traffic is used`
            : `Hello ${data.username}, your traffic is used up`,
        paragraphs: [
          data.share < 100
            ? 'When all of it is used, the proxies of this order refuse new connections until you renew the order.'
            : 'The proxies of this order now refuse connections. Renew the order to add the traffic of another term. They then work again immediately.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Used', gigabytes(data.used)],
          ['Included', gigabytes(data.allowed)]
        ],
        button: { label: 'Renew this order', url: data.renew_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject:
          data.share < 100
            ? `您的流量已使用 ${data.share}%：${data.product_name}`
            : `您的流量已用完：${data.product_name}`,
        heading:
          data.share < 100
            ? `${data.username}，您好，您的流量已使用 ${data.share}%`
            : `${data.username}，您好，您的流量已用完`,
        paragraphs: [
          data.share < 100
            ? '流量全部用完后，此订单的代理将拒绝新的连接，直到订单续费。'
            : '此订单的代理现在拒绝连接。续费后会增加一个租期的流量，代理立即恢复使用。'
        ],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['已用', gigabytes(data.used)],
          ['包含', gigabytes(data.allowed)]
        ],
        button: { label: '续费此订单', url: data.renew_url },
        footer: sender(shop)
      })
    }
  })
}
