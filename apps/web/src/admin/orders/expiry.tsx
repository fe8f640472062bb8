import type { Order, RefundPlan } from '@netlet/contract'
import { type Obstacle, whyNotExtend } from '../../kit/order-obstacles.ts'
import { fromCents, toCents } from '@netlet/contract/money'
import { IconCalendarHeart, IconCalendarPlus, IconReceiptRefund } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { money, moneyIn } from '../../kit/money.ts'
import { CreditForm, ExtendForm, RefundForm } from '../../kit/schemas.ts'
import { momentText } from '../../kit/time.tsx'
import {
  figures,
  hiddenField,
  integerField,
  moneyField,
  optional,
  type Question,
  type T,
  textField,
  timeField
} from '../kit/index.ts'

/** The console's words for why an action is unavailable. */
export const obstacle = <H extends Obstacle>(why: H | undefined) => why && (`whyNot.order.${why}` as const)

/** Addresses can be moved while the order's time runs or its delivery is pending. */
export function whyNotMove(order: Order) {
  if (order.pay_status !== 1) return obstacle('notPaid')
  if (order.state === 'refunded') return obstacle('refunded')
  if (order.is_expired || order.state === 'expired') return obstacle('over')
  return order.state === 'failed' ? ('whyNot.order.failed' as const) : undefined
}

const leftOf = ({ pay_amount, refunded_amount }: Order): string =>
  money(fromCents(toCents(pay_amount ?? '0.00') - toCents(refunded_amount)))

/** What the refund ends. */
const consequence = (t: T, { ends, proxies, days, held_until: until }: RefundPlan): string => {
  const held = until
    ? t('orders.refundHeld', { until: momentText(until, currentLanguage()) })
    : t('orders.refundReleased')
  const said = {
    lease: t('orders.refundEnds', figures({ count: proxies })),
    term: t('orders.refundTakes', figures({ days })),
    term_and_lease: `${t('orders.refundTakes', figures({ days }))} ${t('orders.refundStops', figures({ count: proxies }))} ${held}`,
    grace: `${t('orders.refundGrace')} ${held}`,
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
export const refundAmount = (left: (t: T, row: Record<string, unknown>) => string) => ({
  ...optional(moneyField('amount')),
  shown: () => '',
  placeholder: left,
  help: (t: T) => t('orders.refundHelp')
})

export const refund = {
  name: 'refund',
  icon: IconReceiptRefund,
  danger: true,
  // Renewals are refunded by their own platform order number.
  whyNot: (order: Order) => (order.pay_status === 1 ? undefined : obstacle('notPaid')),
  form: {
    schema: RefundForm,
    fields: [
      refundAmount((t, order) => t('orders.refundAll', { left: leftOf(order as Order) })),
      { ...optional(textField('platform_order')), help: (t: T) => t('orders.platformOrderHelp') }
    ],
    route: orders.refund
  },
  confirm: (t: T, { id, order_id }: Order, sent: Record<string, unknown>) =>
    askRefund(t, order_id, query => call(orders.refundPlan, { params: { id }, query }), sent),
  success: refundStarted
} as const

const DAY = 86_400_000
/** An end further ahead than this needs confirmation, because no term sold is longer. */
const MOST_DAYS = 366

/** The end shown in the form. The server refuses if the order's end has changed. */
const shownEnd = hiddenField('ends_at', { sent: (_value, row) => row['expired_at'] ?? undefined })

/** Asks with both dates before a lease is shortened or set years ahead. */
function question(t: T, order: Order, sent: Record<string, unknown>): Question | undefined {
  const [before, after] = [Date.parse(String(sent['ends_at'])), Number(sent['expired_at'])]
  const count = (after - before) / DAY
  const isShorter = after < before
  // The server refuses a past date, and the field shows why.
  if (Number.isNaN(count) || after <= Date.now()) return undefined
  if (!isShorter && (after - Date.now()) / DAY <= MOST_DAYS) return undefined
  const values = {
    order: order.order_id,
    before: momentText(before, currentLanguage()),
    after: momentText(after, currentLanguage()),
    // Round up to tenths of a day, so that the question never understates the change.
    days: Math.ceil(Math.abs(count) * 10) / 10
  }
  return isShorter
    ? { title: t('orders.shortenTitle'), body: t('orders.shortenBody', values), danger: true }
    : { title: t('orders.farTitle'), body: t('orders.farBody', values), danger: true }
}

/** Sets an order's end. */
export const extend = {
  name: 'extend',
  icon: IconCalendarPlus,
  whyNot: (order: Order) => obstacle(whyNotExtend(order)),
  form: { schema: ExtendForm, fields: [timeField('expired_at'), shownEnd], route: orders.extend },
  confirm: question,
  // Restores the former end, if the current one is still what was set.
  undo: ({ id, expired_at: former }: Order, reply: unknown) => {
    const { expired_at: set } = reply as Order
    if (former === null || set === null || set === former) return undefined
    return { route: orders.extend, input: { params: { id }, body: { expired_at: Date.parse(former), ends_at: set } } }
  }
} as const

/** Adds days to an order, with a reason. */
export const credit = {
  name: 'credit',
  icon: IconCalendarHeart,
  whyNot: (order: Order) => obstacle(whyNotExtend(order)),
  form: { schema: CreditForm, fields: [integerField('days'), textField('note'), shownEnd], route: orders.credit },
  confirm: (t: T, order: Order, sent: Record<string, unknown>) => ({
    title: t('orders.creditTitle'),
    body: t('orders.creditBody', {
      order: order.order_id,
      days: Number(sent['days']),
      end: momentText(
        new Date(Date.parse(order.expired_at ?? '') + Number(sent['days']) * 86_400_000),
        currentLanguage()
      )
    })
  }),
  success: (t: T) => t('orders.creditDone')
} as const
