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
        paragraphs: ['订单中的所有代理均已可用。代理列表和凭据请在控制台查看。'],
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
        paragraphs: ['立即续费，即可不间断地继续使用相同的代理。订单到期后，代理将停止工作。'],
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

type OrderRef = { username: string; order_id: string; product_name: string }
type Received = { proxies: number; amount: string; days?: number; reserved_until: string; checkout_url: string }
type Expired = {
  proxies: number
  expired_at: string
  /** Null: the addresses are not held. */
  grace_until: string | null
  /** The payment of a renewal is on its way. */
  pending?: boolean
  renewal_days?: number
  renew_url: string
  shop_url: string
}

const orderRef: OrderRef = {
  username: 'demo1',
  order_id: 'NL-7k2m9x4c8v3b6n1q',
  product_name: 'Metro ISP · New York'
}

/** From the placing of an order to its end, except for the delivery. */
export const orderLifeTemplates = {
  'order-received': template<OrderRef & Received>({
    kind: 'payments',
    sample: {
      ...orderRef,
      proxies: 8,
      amount: '20.00 USD',
      days: 30,
      reserved_until: '2026-01-05T10:30:00.000Z',
      checkout_url: 'https://my-shop.example.com/cart/72000000000101:8'
    },
    content: {
      en: (data, shop) => ({
        subject: `Complete your payment: ${data.product_name}`,
        heading: `Hello ${data.username}, we have your order`,
        paragraphs: [
          'We hold its IPs for you until the time below. If you have already paid, there is nothing to do. We email you when your proxies are ready.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Proxies', String(data.proxies)],
          ['Price', data.amount],
          ...daysEn('Term', data.days),
          ['Held until', day(data.reserved_until)]
        ],
        button: { label: 'Pay this order', url: data.checkout_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `请完成付款：${data.product_name}`,
        heading: `${data.username}，您好，我们已收到您的订单`,
        paragraphs: ['我们为您保留订单的 IP 至下列时间。如果您已付款，则无需任何操作，代理就绪后您会收到邮件。'],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['代理数量', String(data.proxies)],
          ['价格', data.amount],
          ...daysZh('租期', data.days),
          ['保留至', day(data.reserved_until)]
        ],
        button: { label: '支付此订单', url: data.checkout_url },
        footer: sender(shop)
      })
    }
  }),
  'order-cancelled': template<OrderRef>({
    kind: 'payments',
    sample: orderRef,
    content: {
      en: (data, shop) => ({
        subject: `Your order was cancelled: ${data.product_name}`,
        heading: `Hello ${data.username}, your order was cancelled`,
        paragraphs: [
          'It was unpaid, and we released its IPs. If you paid at the same moment, your payment is still honoured, and we send you another email.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name]
        ],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的订单已取消：${data.product_name}`,
        heading: `${data.username}，您好，您的订单已取消`,
        paragraphs: ['该订单未付款，其 IP 已释放。如果您恰好在同一时刻付款，付款仍然有效，您会收到另一封邮件。'],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name]
        ],
        footer: sender(shop)
      })
    }
  }),
  'order-expired': template<OrderRef & Expired>({
    kind: 'expiry',
    sample: {
      ...orderRef,
      proxies: 8,
      expired_at: '2026-02-04T10:00:00.000Z',
      grace_until: '2026-02-05T10:00:00.000Z',
      renewal_days: 30,
      renew_url: 'https://shop.example.com/dashboard/index/proxies?renew=1',
      shop_url: 'https://shop.example.com/product'
    },
    content: {
      en: (data, shop) => ({
        subject: `Your proxies have expired: ${data.product_name}`,
        heading: `Hello ${data.username}, your proxies have expired`,
        paragraphs: [
          data.pending
            ? 'They have stopped working. Your payment for the renewal is being processed. The same proxies work again when it completes. Please do not pay again.'
            : data.grace_until
              ? 'They have stopped working. We hold their IPs for you until the time below. Renew before then to get the same proxies back with the same credentials. The new term starts from the expiry.'
              : 'They have stopped working. To continue, please place a new order.'
        ],
        facts: [
          ['Order', data.order_id],
          ['Plan', data.product_name],
          ['Proxies', String(data.proxies)],
          ['Expired', day(data.expired_at)],
          ...(data.grace_until && !data.pending
            ? ([['Renew until', day(data.grace_until)]] as [string, string][])
            : []),
          ...(data.grace_until && !data.pending ? daysEn('A renewal adds', data.renewal_days) : [])
        ],
        button: data.pending
          ? { label: 'Show my proxies', url: `${shop.shopUrl}/dashboard/index/proxies` }
          : data.grace_until
            ? { label: 'Renew this order', url: data.renew_url }
            : { label: 'Place a new order', url: data.shop_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的代理已到期：${data.product_name}`,
        heading: `${data.username}，您好，您的代理已到期`,
        paragraphs: [
          data.pending
            ? '代理已停止工作。您的续费付款正在处理中，完成后相同的代理将恢复工作。请勿重复付款。'
            : data.grace_until
              ? '代理已停止工作。我们为您保留其 IP 至下列时间。在此之前续费，即可恢复相同的代理和凭据。新的租期从到期时间起算。'
              : '代理已停止工作。如需继续使用，请重新下单。'
        ],
        facts: [
          ['订单', data.order_id],
          ['套餐', data.product_name],
          ['代理数量', String(data.proxies)],
          ['到期时间', day(data.expired_at)],
          ...(data.grace_until && !data.pending ? ([['续费截止', day(data.grace_until)]] as [string, string][]) : []),
          ...(data.grace_until && !data.pending ? daysZh('续费增加时长', data.renewal_days) : [])
        ],
        button: data.pending
          ? { label: '查看我的代理', url: `${shop.shopUrl}/dashboard/index/proxies` }
          : data.grace_until
            ? { label: '续费此订单', url: data.renew_url }
            : { label: '重新下单', url: data.shop_url },
        footer: sender(shop)
      })
    }
  })
}
