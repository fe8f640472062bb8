import type { Order } from '@netlet/contract'
import { IconCalendarPlus } from '@tabler/icons-react'
import { orders } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { whyNotExtend } from '../../kit/order-may.ts'
import { ExtendForm } from '../../kit/schemas.ts'
import { momentText } from '../../kit/time.tsx'
import { hiddenField, timeField, type Question, type T } from '../kit/index.ts'
import { obstacle } from './why-not.ts'

const DAY = 86_400_000
/** A term that is set further ahead than this is asked about: nothing is sold for longer. */
const MOST_DAYS = 366

/** The end that the form shows: the server changes no other. */
export const shownEnd = hiddenField('ends_at', { sent: (_value, row) => row['expired_at'] ?? undefined })

/** A shortened lease, and one that would last for years, are asked about with both ends. */
function question(t: T, order: Order, sent: Record<string, unknown>): Question | undefined {
  const [before, after] = [Date.parse(String(sent['ends_at'])), Number(sent['expired_at'])]
  const count = (after - before) / DAY
  const isShorter = after < before
  // An end in the past is refused, and said at the field.
  if (Number.isNaN(count) || after <= Date.now()) return undefined
  if (!isShorter && (after - Date.now()) / DAY <= MOST_DAYS) return undefined
  const values = {
    order: order.order_id,
    before: momentText(before, currentLanguage()),
    after: momentText(after, currentLanguage()),
    // A part of a day counts: no time is taken or given that the question does not name.
    days: Math.ceil(Math.abs(count) * 10) / 10
  }
  return isShorter
    ? { title: t('orders.shortenTitle'), body: t('orders.shortenBody', values), danger: true }
    : { title: t('orders.farTitle'), body: t('orders.farBody', values), danger: true }
}

/** Sets when an order ends. */
export const extend = {
  name: 'extend',
  icon: IconCalendarPlus,
  whyNot: (order: Order) => obstacle(whyNotExtend(order)),
  form: { schema: ExtendForm, fields: [timeField('expired_at'), shownEnd], route: orders.extend },
  confirm: question,
  // The end that it had, where it ends now as it was set.
  undo: ({ id, expired_at: former }: Order, reply: unknown) => {
    const { expired_at: set } = reply as Order
    if (former === null || set === null || set === former) return undefined
    return { route: orders.extend, input: { params: { id }, body: { expired_at: Date.parse(former), ends_at: set } } }
  }
} as const
