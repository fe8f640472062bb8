import type { Order, RefundPlan } from '@netlet/contract'
import { IconReceiptRefund } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { moneyIn } from '../../kit/money.ts'
import { RefundForm } from '../../kit/schemas.ts'
import { momentText } from '../../kit/time.tsx'
import { figures, moneyField, optional, textField, type T } from '../kit/index.ts'
import { obstacle } from './why-not.ts'

/** What the refund ends. */
const consequence = (t: T, { ends, proxies, days, held_until: until }: RefundPlan): string => {
  const held = until
    ? t('orders.refundHeld', { until: momentText(until, currentLanguage()) })
    : t('orders.refundReleased')
  const said = {
    lease: proxies > 0 ? t('orders.refundEnds', figures({ count: proxies })) : t('orders.refundEndsOrder'),
    term: t('orders.refundTakes', figures({ days })),
    term_and_lease: `${t('orders.refundTakes', figures({ days }))} ${t('orders.refundStops', figures({ count: proxies }))} ${held}`,
    grace: `${t('orders.refundGrace')} ${held}`,
    failure: t('orders.refundAwaits'),
    nothing: t('orders.refundKeeps')
  }
  return said[ends]
}

/** What an operator has to send, as the platform only records it. */
const byHand = (t: T, { by_hand: amount }: Pick<RefundPlan, 'by_hand'>): string[] =>
  amount === null ? [] : [t('orders.refundByHand', { amount })]

/** @param reply the reply to the refund */
export const refundStarted = (t: T, reply: unknown): string =>
  [t('orders.refundDone'), ...byHand(t, reply as Pick<RefundPlan, 'by_hand'>)].join('. ')

/**
 * The question before a refund: the amount by the server's books, the payment, and what ends.
 * @param order its public number; null: the payment belongs to no order
 */
export async function askRefund(
  t: T,
  order: string | null,
  planOf: (query: Record<string, string>) => Promise<RefundPlan>,
  sent: Record<string, unknown>
) {
  const query = Object.fromEntries(
    ['amount', 'platform_order'].flatMap(name => {
      const value = sent[name]
      return typeof value === 'string' && value.trim() ? [[name, value.trim()]] : []
    })
  )
  const plan = await planOf(query)
  const amount = moneyIn(plan.amount, plan.currency)
  const about = { amount, payment: plan.platform_order }
  const body = order ? t('orders.refundBody', { ...about, order }) : t('payments.refundBody', about)
  return {
    title: t('orders.refundTitle', { amount }),
    body: [body, ...byHand(t, plan), consequence(t, plan)].join('\n'),
    danger: true,
    // The amount, so that only a large refund asks for a confirmation.
    adds: { version: plan.version, amount: plan.amount }
  }
}

/** The amount to refund; empty means all that is left. */
export const refundAmount = {
  ...optional(moneyField('amount')),
  shown: () => '',
  placeholder: (t: T) => t('payments.refundAll'),
  help: (t: T) => t('orders.refundHelp')
}

export const refund = {
  name: 'refund',
  icon: IconReceiptRefund,
  danger: true,
  // Renewals are refunded by their own platform order number.
  whyNot: (order: Order) => (order.pay_status === 1 ? undefined : obstacle('notPaid')),
  form: {
    schema: RefundForm,
    fields: [refundAmount, { ...optional(textField('platform_order')), help: (t: T) => t('orders.platformOrderHelp') }],
    route: orders.refund
  },
  confirm: (t: T, { id, order_id }: Order, sent: Record<string, unknown>) =>
    askRefund(t, order_id, query => call(orders.refundPlan, { params: { id }, query }), sent),
  success: refundStarted
} as const
