import { day, daysEn, daysZh, sender, template } from './define.ts'

type PaymentMail = {
  username: string
  order_id: string
  product_name: string
  /** The platform's number of the payment: '#1001'. */
  platform_order: string
  /** With its currency: '20.00 USD'. */
  amount: string
  dashboard_url: string
}

const sample: PaymentMail = {
  username: 'demo1',
  order_id: 'NL-7k2m9x4c8v3b6n1q',
  product_name: 'Metro ISP · New York',
  platform_order: '#1001',
  amount: '20.00 USD',
  dashboard_url: 'https://shop.example.com/dashboard/index/proxies'
}

const factsEn = (data: PaymentMail): [string, string][] => [
  ['Order', data.order_id],
  ['Plan', data.product_name],
  ['Payment', data.platform_order],
  ['Amount', data.amount]
]

const factsZh = (data: PaymentMail): [string, string][] => [
  ['订单', data.order_id],
  ['套餐', data.product_name],
  ['付款', data.platform_order],
  ['金额', data.amount]
]

/** Mails queued by old versions lack the purchase's details. */
type Receipt = PaymentMail & { proxies?: number; rules?: string; paid_at?: string }

const receiptEn = ({ proxies, rules, paid_at }: Receipt): [string, string][] => [
  ...(proxies ? [['Proxies', String(proxies)] as [string, string]] : []),
  ...(rules ? [['Access rules', rules] as [string, string]] : []),
  ...(paid_at ? [['Paid on', day(paid_at)] as [string, string]] : [])
]

const receiptZh = ({ proxies, rules, paid_at }: Receipt): [string, string][] => [
  ...(proxies ? [['代理数量', String(proxies)] as [string, string]] : []),
  ...(rules ? [['访问规则', rules] as [string, string]] : []),
  ...(paid_at ? [['付款时间', day(paid_at)] as [string, string]] : [])
]

/** Why a payment was received but nothing delivered, for the customer. */
const WHY_NOT = {
  lines_missing: {
    en: 'The payment does not cover the order.',
    'zh-CN': '付款未涵盖订单的全部内容。'
  },
  wrong_currency: {
    en: 'The payment is not in the shop’s currency.',
    'zh-CN': '付款货币与本店货币不同。'
  },
  test_payment: { en: 'It was a test payment: no money was charged.', 'zh-CN': '这是一笔测试付款，未实际扣款。' },
  cancelled: {
    en: 'The payment was cancelled on the checkout platform.',
    'zh-CN': '该付款已在结账平台上取消。'
  },
  out_of_stock: {
    en: 'The IPs of your order were no longer available when the payment arrived.',
    'zh-CN': '付款到账时，订单的 IP 已被释放。'
  },
  // Only in mails queued before 'payment-again' existed.
  paid_twice: { en: 'The order was already paid.', 'zh-CN': '该订单此前已付款。' },
  purchase_not_sold: {
    en: 'The plan or an access rule of the order was no longer sold when the payment arrived.',
    'zh-CN': '付款到账时，该订单的套餐或访问规则已不再出售。'
  },
  renewal_not_sold: {
    en: 'The plan or an access rule of the order is no longer sold as you paid for it.',
    'zh-CN': '该订单所付款的套餐或访问规则已不再出售。'
  },
  order_refunded: {
    en: 'The order had been refunded before the payment arrived.',
    'zh-CN': '付款到账前，该订单已退款。'
  },
  renewal_too_late: { en: 'The order could no longer be renewed.', 'zh-CN': '该订单已无法续费。' }
} as const
export type WhyNotDelivered = keyof typeof WHY_NOT

const WHY_NOT_RENEWED = {
  ...WHY_NOT,
  lines_missing: {
    en: 'The payment does not cover the renewal.',
    'zh-CN': '付款未涵盖续费的全部内容。'
  }
} as const satisfies Record<WhyNotDelivered, object>

/** What follows: nothing else can be done with some payments. `bought`: 'deliver what you paid for'. */
const nextEn = (why: WhyNotDelivered, bought: string): string =>
  why === 'order_refunded' || why === 'renewal_too_late'
    ? 'We will refund the payment. Contact us if it takes longer than a day.'
    : `We are looking into it. We will ${bought}, or refund you. Contact us if it takes longer than a day.`
const nextZh = (why: WhyNotDelivered, bought: string): string =>
  why === 'order_refunded' || why === 'renewal_too_late'
    ? '我们将为该付款退款。如超过一天仍未处理，请联系我们。'
    : `我们正在处理，将${bought}或为您退款。如超过一天仍未处理，请联系我们。`

/** How a full or partial refund affects an order. */
export type RefundEffect = 'yes' | 'undelivered' | 'no' | 'unpaid' | 'uncounted' | 'part'

const REFUNDED = {
  yes: {
    en: 'The order has ended and its proxies no longer work. You lose the points that the payment earned.',
    'zh-CN': '该订单已终止，代理不再可用。该付款所获得的积分已收回。'
  },
  undelivered: {
    en: 'The order has ended. You lose the points that the payment earned.',
    'zh-CN': '该订单已终止。该付款所获得的积分已收回。'
  },
  no: {
    en: 'We removed what the payment bought from your order.',
    'zh-CN': '该付款所购买的内容已从您的订单中撤销。'
  },
  unpaid: {
    en: 'We delivered nothing for it. You can still pay the order while its IPs are reserved. After that, please place a new one.',
    'zh-CN': '我们未为该付款交付任何内容。在 IP 保留期间，您仍可为该订单付款；超时后请重新下单。'
  },
  uncounted: {
    en: 'It bought nothing, so your order stays the same.',
    'zh-CN': '该付款未购买任何内容，您的订单保持不变。'
  },
  part: {
    en: 'Nothing else about your order changed. You lose the points that this part earned.',
    'zh-CN': '您的订单没有其他变化。该部分款项所获得的积分已收回。'
  }
} as const satisfies Record<RefundEffect, object>

const DISPUTED = {
  en: 'Your bank took the payment back because of a dispute. If that was a mistake, contact your bank or us.',
  'zh-CN': '由于该付款被提出争议，您的银行已将其收回。如属误会，请联系您的银行或联系我们。'
}

type Refunded = PaymentMail & {
  ended: RefundEffect
  /** The payer's bank took it back, not we. Missing in mails queued by old versions. */
  disputed?: boolean
  /** What the shop sends by hand. */
  byHand?: string
}

const BY_HAND = {
  en: (amount: string) =>
    `We will send you ${amount} of it ourselves, the way you paid or as agreed with you. Contact us if it takes longer than a few days.`,
  'zh-CN': (amount: string) => `其中 ${amount} 由我们按您的付款方式或与您约定的方式汇给您。如数日内未收到，请联系我们。`
}

const refundWords = {
  en: ({ ended, disputed, byHand }: Refunded) => {
    const what = ended === 'part' ? 'Part of your payment was' : 'Your payment was'
    if (disputed) return `${what} disputed`
    return byHand ? what.replace(/was$/, 'is being refunded') : `${what} refunded`
  },
  'zh-CN': ({ ended, disputed, byHand }: Refunded) => {
    const what = ended === 'part' ? '您的部分付款' : '您的付款'
    if (disputed) return `${what}被提出争议`
    return byHand ? `${what}正在退款` : `${what}已退款`
  }
}

export const paymentTemplates = {
  'payment-received': template<Receipt>({
    kind: 'payments',
    sample: { ...sample, proxies: 8, rules: 'Rule 1, Rule 2', paid_at: '2026-01-05T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: `We received your payment for ${data.product_name}`,
        heading: `Thank you, ${data.username}`,
        paragraphs: ['Your payment has arrived. We are setting up your proxies and email you when they are ready.'],
        facts: [...factsEn(data), ...receiptEn(data)],
        button: { label: 'Show my orders', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `我们已收到您的付款：${data.product_name}`,
        heading: `${data.username}，感谢您的购买`,
        paragraphs: ['您的付款已到账。我们正在开通代理，就绪后您会收到邮件。'],
        facts: [...factsZh(data), ...receiptZh(data)],
        button: { label: '查看我的订单', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'renewal-confirmed': template<PaymentMail & { days?: number; changed?: number; expires_at: string | null }>({
    kind: 'payments',
    sample: { ...sample, days: 30, expires_at: '2026-03-06T10:00:00.000Z' },
    content: {
      en: (data, shop) => ({
        subject: `Order renewed: ${data.product_name}`,
        heading: `Thank you, ${data.username}, your order is renewed`,
        paragraphs: [
          data.changed
            ? `${data.changed} of your proxies have new addresses, because the old ones were no longer available. The password stays the same. Please download your proxy list again.`
            : 'Your proxies keep the same addresses.'
        ],
        facts: [
          ...factsEn(data),
          ...daysEn('Term added', data.days),
          ['Valid until', data.expires_at ? day(data.expires_at) : 'Starts on delivery']
        ],
        button: { label: 'Show my proxies', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您的订单已续费：${data.product_name}`,
        heading: `${data.username}，感谢您，您的订单已续费`,
        paragraphs: [
          data.changed
            ? `由于原地址已不再可用，您有 ${data.changed} 个代理使用新地址。密码保持不变，请重新获取您的代理列表。`
            : '您的代理将继续使用相同的地址。'
        ],
        facts: [
          ...factsZh(data),
          ...daysZh('增加租期', data.days),
          ['有效期至', data.expires_at ? day(data.expires_at) : '自交付时起算']
        ],
        button: { label: '查看我的代理', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'payment-not-delivered': template<PaymentMail & { why: WhyNotDelivered }>({
    kind: 'payments',
    sample: { ...sample, why: 'out_of_stock' },
    content: {
      en: (data, shop) => ({
        subject: `We received your payment, but could not deliver your order: ${data.product_name}`,
        heading: `Hello ${data.username}, we could not deliver your order`,
        paragraphs: [
          `Your payment has arrived, but we have not delivered anything for it. ${WHY_NOT[data.why].en}`,
          nextEn(data.why, 'deliver what you paid for')
        ],
        facts: factsEn(data),
        button: { label: 'Show my orders', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `我们已收到您的付款，但未能交付：${data.product_name}`,
        heading: `${data.username}，您好，您的订单未能交付`,
        paragraphs: [
          `您的付款已到账，但尚未交付任何内容。${WHY_NOT[data.why]['zh-CN']}`,
          nextZh(data.why, '交付您所购买的内容')
        ],
        facts: factsZh(data),
        button: { label: '查看我的订单', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'payment-not-renewed': template<PaymentMail & { why: WhyNotDelivered; live: boolean }>({
    kind: 'payments',
    sample: { ...sample, why: 'lines_missing', live: true },
    content: {
      en: (data, shop) => ({
        subject: `We received your payment, but could not renew your order: ${data.product_name}`,
        heading: `Hello ${data.username}, your order is not renewed`,
        paragraphs: [
          `Your payment has arrived, but we could not renew the order. ${WHY_NOT_RENEWED[data.why].en}`,
          ...(data.live ? ['Your proxies keep working until the order expires.'] : []),
          nextEn(data.why, 'renew the order')
        ],
        facts: factsEn(data),
        button: { label: 'Show my orders', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `我们已收到您的付款，但未能续费：${data.product_name}`,
        heading: `${data.username}，您好，您的订单未能续费`,
        paragraphs: [
          `您的付款已到账，但订单未能续费。${WHY_NOT_RENEWED[data.why]['zh-CN']}`,
          ...(data.live ? ['在订单到期之前，您的代理照常可用。'] : []),
          nextZh(data.why, '为订单续费')
        ],
        facts: factsZh(data),
        button: { label: '查看我的订单', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'payment-again': template<PaymentMail & { live: boolean }>({
    kind: 'payments',
    sample: { ...sample, live: true },
    content: {
      en: (data, shop) => ({
        subject: `You paid twice: ${data.product_name}`,
        heading: `Hello ${data.username}, you paid this order twice`,
        paragraphs: [
          data.live ? 'The order was already paid, and your proxies are not affected.' : 'The order was already paid.',
          'We will refund the second payment, shown below. Contact us if it takes longer than a day.'
        ],
        facts: factsEn(data),
        button: { label: 'Show my orders', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `您重复付款了：${data.product_name}`,
        heading: `${data.username}，您好，您为该订单付款了两次`,
        paragraphs: [
          data.live ? '该订单此前已付款，您的代理不受影响。' : '该订单此前已付款。',
          '我们将为第二笔付款（见下方）退款。如超过一天仍未处理，请联系我们。'
        ],
        facts: factsZh(data),
        button: { label: '查看我的订单', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  }),
  'payment-refunded': template<Refunded>({
    kind: 'payments',
    sample: { ...sample, ended: 'yes' },
    content: {
      en: (data, shop) => ({
        subject: `${refundWords.en(data)}: ${data.product_name}`,
        heading: `Hello ${data.username}, ${refundWords.en(data).replace(/^./, first => first.toLowerCase())}`,
        paragraphs: [
          ...(data.disputed ? [DISPUTED.en] : []),
          ...(data.byHand ? [BY_HAND.en(data.byHand)] : []),
          REFUNDED[data.ended].en
        ],
        facts: factsEn(data),
        button: { label: 'Show my orders', url: data.dashboard_url },
        footer: sender(shop)
      }),
      'zh-CN': (data, shop) => ({
        subject: `${refundWords['zh-CN'](data)}：${data.product_name}`,
        heading: `${data.username}，您好，${refundWords['zh-CN'](data)}`,
        paragraphs: [
          ...(data.disputed ? [DISPUTED['zh-CN']] : []),
          ...(data.byHand ? [BY_HAND['zh-CN'](data.byHand)] : []),
          REFUNDED[data.ended]['zh-CN']
        ],
        facts: factsZh(data),
        button: { label: '查看我的订单', url: data.dashboard_url },
        footer: sender(shop)
      })
    }
  })
}
