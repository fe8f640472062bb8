import type { Order } from '@netlet/contract'
import { whyNotExtend } from '../../kit/order-obstacles.ts'

import { IconCalendarHeart, IconCalendarPlus } from '@tabler/icons-react'

import { orders } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'

import { CreditForm, ExtendForm } from '../../kit/schemas.ts'
import { momentText } from '../../kit/time.tsx'
import { hiddenField, integerField, noteFields, type Question, type T, textField, timeField } from '../kit/index.ts'
import { obstacle } from './why-not.ts'

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
  form: { schema: ExtendForm, fields: [timeField('expired_at'), ...noteFields, shownEnd], route: orders.extend },
  confirm: question,
  // Restores the former end, if the current one is still what was set.
  undo: ({ id, expired_at: former }: Order, reply: unknown, sent: Record<string, unknown> = {}) => {
    const { expired_at: set } = reply as Order
    if (former === null || set === null || set === former) return undefined
    // The customer hears of it if they heard of the change.
    const body = { expired_at: Date.parse(former), ends_at: set, email_customer: sent['email_customer'] }
    return { route: orders.extend, input: { params: { id }, body } }
  }
} as const

/** Adds days to an order, with a reason. */
export const credit = {
  name: 'credit',
  icon: IconCalendarHeart,
  whyNot: (order: Order) => obstacle(whyNotExtend(order)),
  form: {
    schema: CreditForm,
    fields: [integerField('days'), textField('note'), ...noteFields, shownEnd],
    route: orders.credit
  },
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
