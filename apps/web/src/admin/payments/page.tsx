import type { InboxEntry } from '@netlet/contract'
import { MONEY_OUTCOMES } from '@netlet/contract/payment-codes'
import { IconArrowForwardUp, IconEyeOff, IconReceiptRefund } from '@tabler/icons-react'
import { payments } from '../../api/routes.ts'
import { ApplyPaymentForm, PaymentNoteForm } from '../../kit/schemas.ts'
import { code, column, date, defineResource, integer, oneOf, textField } from '../kit/index.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import { PaymentDrawer } from './drawer.tsx'

const open = (entry: InboxEntry) => entry.needs_hand
const settlesNothing = (entry: InboxEntry) =>
  entry.needs_hand && (entry.topic === 'orders/paid' || (entry.outcome === 'dispute_won' && entry.payment === 'held'))
const leavesMoney = (entry: InboxEntry) =>
  settlesNothing(entry) || (entry.needs_hand && entry.outcome === 'renewals_unserved')
const note = textField('note')

/** What the platform reported about money, and what an administrator does with what could not simply be delivered. */
export default defineResource({
  key: 'payments',
  list: payments.inbox,
  also: [payments.inboxEntry],
  nameOf: entry => entry.platform_order ?? entry.topic,
  problem: open,
  columns: [
    integer('id', { optional: true }),
    code('platform_order', { lead: true }),
    column('order', (entry: InboxEntry) => <OrderCell entry={entry} />),
    column('charged', (entry: InboxEntry) => <ChargedCell entry={entry} />, { align: 'end' }),
    column('outcome', (entry: InboxEntry) => <OutcomeBadge entry={entry} />, { wide: true }),
    code('topic', { optional: true }),
    date('received_at')
  ],
  sort: ['id'],
  filters: [oneOf('needs_hand', ['1', '0'], 'payments.hand'), oneOf('outcome', MONEY_OUTCOMES, 'payments.is')],
  drawer: PaymentDrawer,
  rowActions: [
    {
      name: 'apply',
      icon: IconArrowForwardUp,
      when: settlesNothing,
      form: { schema: ApplyPaymentForm, fields: [textField('order', { mono: true })], route: payments.apply }
    },
    {
      name: 'refunded',
      icon: IconReceiptRefund,
      when: leavesMoney,
      form: { schema: PaymentNoteForm, fields: [note], route: payments.markRefunded }
    },
    {
      name: 'ignore',
      icon: IconEyeOff,
      when: open,
      form: { schema: PaymentNoteForm, fields: [note], route: payments.ignore }
    }
  ],
  csv: true
})
