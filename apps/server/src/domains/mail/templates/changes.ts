import type { Content } from '../layout.ts'
import { day, sender, template, type TemplateContext } from './define.ts'

type OrderRef = { username: string; order_id: string; product_name: string }

/**
 * About a change of an order by an operator or the shop, in the operator's words too. `more`: other orders of the
 * customer with the same change, see `gatherMail`.
 */
export type Gathered<Part> = OrderRef & Part & { message?: string; more?: (OrderRef & Part)[] }

const sample: OrderRef = {
  username: 'demo1',
  order_id: 'NL-7k2m9x4c8v3b6n1q',
  product_name: 'Metro ISP · New York'
}

/** Longer lists are cut; the dashboard has them all. */
const MOST_ORDERS = 50

type Words = { order: string; plan: string; message: string; open: string; others: (count: number) => string }
export const EN: Words = {
  order: 'Order',
  plan: 'Plan',
  message: 'Our message to you:',
  open: 'Show my proxies',
  others: count => `and ${count} more`
}
export const ZH: Words = {
  order: '订单',
  plan: '套餐',
  message: '我们给您的留言：',
  open: '查看我的代理',
  others: count => `以及另外 ${count} 个订单`
}

type Facts = [label: string, value: string][]

/** The parts that all these mails share. @param factsOf the changed values of one order */
export function shared<Part>(
  words: Words,
  data: Gathered<Part>,
  { shopUrl, ...shop }: TemplateContext,
  { paragraphs, factsOf = () => [] }: { paragraphs: string[]; factsOf?: (part: OrderRef & Part) => Facts }
): Pick<Content, 'paragraphs' | 'facts' | 'button' | 'footer'> {
  const all = [data, ...(data.more ?? [])]
  const lines = all
    .slice(0, MOST_ORDERS)
    .map((one): Facts[number] => [
      one.order_id,
      [one.product_name, ...factsOf(one).map(fact => fact.join(': '))].join('\n')
    ])
  const others: Facts = all.length > MOST_ORDERS ? [['…', words.others(all.length - MOST_ORDERS)]] : []
  return {
    paragraphs: [...paragraphs, ...(data.message ? [`${words.message}\n${data.message}`] : [])],
    facts:
      all.length > 1
        ? [...lines, ...others]
        : [[words.order, data.order_id], [words.plan, data.product_name], ...factsOf(data)],
    button: { label: words.open, url: `${shopUrl}/dashboard/index/proxies` },
    footer: sender({ shopUrl, ...shop })
  }
}

/** How a subject names the orders. */
export const aboutEn = ({ product_name, more = [] }: Gathered<object>): string =>
  more.length === 0 ? product_name : `${more.length + 1} orders`
export const aboutZh = ({ product_name, more = [] }: Gathered<object>): string =>
  more.length === 0 ? product_name : `${more.length + 1} 个订单`

type Changed = {
  /** `later`, `earlier`: another end. */
  change: 'password' | 'addresses' | 'later' | 'earlier'
  /** Of another end: the new one and the former one. */
  expires_at?: string
  expired_at?: string
}

const CHANGED: Record<
  Changed['change'],
  Record<'en' | 'zh', { subject: string; heading: string; paragraphs: string[] }>
> = {
  password: {
    en: {
      subject: 'New password for your proxies',
      heading: 'your proxies have a new password',
      paragraphs: [
        'Each order below has a new password. The old one no longer works.',
        'Download your proxy list again, and update your programs.'
      ]
    },
    zh: {
      subject: '您的代理密码已更新',
      heading: '您的代理有了新密码',
      paragraphs: ['以下每个订单都已设置新密码，旧密码不再有效。', '请重新获取您的代理列表，并更新您的程序。']
    }
  },
  addresses: {
    en: {
      subject: 'New addresses for your proxies',
      heading: 'your proxies have new addresses',
      paragraphs: [
        'Each order below has new addresses. The old ones no longer work. The username and password stay the same.',
        'Download your proxy list again, and update your programs.'
      ]
    },
    zh: {
      subject: '您的代理地址已更换',
      heading: '您的代理有了新地址',
      paragraphs: [
        '以下每个订单都已更换地址，旧地址不再有效。用户名和密码保持不变。',
        '请重新获取您的代理列表，并更新您的程序。'
      ]
    }
  },
  later: {
    en: {
      subject: 'We extended your order',
      heading: 'we extended your order',
      paragraphs: ['Your proxies work until the new date below. There is nothing to do.']
    },
    zh: {
      subject: '您的订单已延长',
      heading: '您的订单已延长',
      paragraphs: ['您的代理可使用至下列新日期，无需任何操作。']
    }
  },
  earlier: {
    en: {
      subject: 'Your order ends earlier',
      heading: 'your order ends earlier',
      paragraphs: ['Your proxies stop working on the new date below. To keep them longer, renew the order before then.']
    },
    zh: {
      subject: '您的订单将提前到期',
      heading: '您的订单将提前到期',
      paragraphs: ['您的代理将在下列新日期停止工作。如需继续使用，请在此之前续费。']
    }
  }
}

export const changeTemplates = {
  'order-changed': template<Gathered<Changed>>({
    kind: 'proxies',
    sample: { ...sample, change: 'password', message: 'The old password was in a public list.' },
    content: {
      en(data, shop) {
        const { subject, heading, paragraphs } = CHANGED[data.change].en
        return {
          subject: `${subject}: ${aboutEn(data)}`,
          heading: `Hello ${data.username}, ${heading}`,
          ...shared(EN, data, shop, {
            paragraphs,
            factsOf: ({ expired_at, expires_at }) => [
              ...(expired_at ? ([['Old expiry', day(expired_at)]] satisfies Facts) : []),
              ...(expires_at ? ([['New expiry', day(expires_at)]] satisfies Facts) : [])
            ]
          })
        }
      },
      'zh-CN'(data, shop) {
        const { subject, heading, paragraphs } = CHANGED[data.change].zh
        return {
          subject: `${subject}：${aboutZh(data)}`,
          heading: `${data.username}，您好，${heading}`,
          ...shared(ZH, data, shop, {
            paragraphs,
            factsOf: ({ expired_at, expires_at }) => [
              ...(expired_at ? ([['原到期时间', day(expired_at)]] satisfies Facts) : []),
              ...(expires_at ? ([['新到期时间', day(expires_at)]] satisfies Facts) : [])
            ]
          })
        }
      }
    }
  })
}
