import type { Order } from '@netlet/contract'
import { IconCalendarHeart } from '@tabler/icons-react'
import { orders } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { whyNotExtend } from '../../kit/order-may.ts'
import { CreditForm } from '../../kit/schemas.ts'
import { momentText } from '../../kit/time.tsx'
import { integerField, textField, type T } from '../kit/index.ts'
import { obstacle } from './why-not.ts'
import { shownEnd } from './expiry.tsx'

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
