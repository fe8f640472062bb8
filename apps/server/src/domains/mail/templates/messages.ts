import { sender, template } from './define.ts'

/** `message`: the ticket's text. Both may have several lines. */
type TicketAnswer = { username: string; ticket: number; message: string; answer: string }

/** Mails to people who wrote to the operators. */
export const supportTemplates = {
  'ticket-answer': template<TicketAnswer>({
    kind: 'support',
    sample: {
      username: 'demo1',
      ticket: 42,
      message: 'My proxies do not connect.\nWhat can I do?',
      answer: 'Your IP was not allowed yet. It is now, so please try again.'
    },
    content: {
      en: (data, shop) => ({
        subject: `Answer to your ticket #${data.ticket}`,
        heading: `Hello ${data.username}, here is our answer`,
        paragraphs: [data.answer, 'You wrote:', quoted(data.message)],
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的工单 #${data.ticket} 已有回复`,
        heading: `${data.username}，您好，以下是我们的回复`,
        paragraphs: [data.answer, '您的留言：', quoted(data.message)],
        footer: sender(shop)
      })
    }
  })
}

const quoted = (text: string): string =>
  text
    .split('\n')
    .map(line => `> ${line}`)
    .join('\n')

type Off = { username: string; host: string; why: 'failing' | 'gone'; settings_url: string }

const sample: Off = {
  username: 'Ann',
  host: 'hooks.example.com',
  why: 'failing',
  settings_url: 'https://shop.example.com/dashboard/index/setting'
}

export const webhookTemplates = {
  'webhook-off': template<Off>({
    kind: 'security',
    sample,
    content: {
      en: (data, shop) => ({
        subject: `Your webhook endpoint at ${data.host} was turned off`,
        heading: `Hello ${data.username}, your webhook endpoint was turned off`,
        paragraphs: [
          data.why === 'gone'
            ? `${data.host} answered 410 (Gone), which tells us to stop sending events.`
            : `${data.host} has not accepted an event for days.`,
          'We no longer send events there. The log in your settings shows the responses. When the endpoint works again, turn it on there and resend what it missed.'
        ],
        button: { label: 'Open settings', url: data.settings_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您在 ${data.host} 的 Webhook 端点已停用`,
        heading: `${data.username}，您好，您的 Webhook 端点已停用`,
        paragraphs: [
          data.why === 'gone'
            ? `${data.host} 返回了 410（Gone），表示不再接收事件。`
            : `${data.host} 已连续数天未接收任何事件。`,
          '我们不再向该地址发送事件。设置页的日志记录了返回内容；恢复正常后，请在那里重新启用该端点，并重新发送错过的事件。'
        ],
        button: { label: '打开设置', url: data.settings_url },
        footer: sender(shop)
      })
    }
  })
}

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
