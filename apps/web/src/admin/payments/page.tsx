import type { EventOutcome, InboxEntry } from '@netlet/contract'
import { IconArrowForwardUp, IconEyeOff, IconReceiptRefund } from '@tabler/icons-react'
import { payments } from '../../api/routes.ts'
import { ApplyPaymentForm, PaymentNoteForm } from '../../kit/schemas.ts'
import { code, column, date, defineResource, integer, oneOf, textField } from '../kit/index.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import { PaymentDrawer } from './drawer.tsx'

// Named here and not taken from the contract, whose list would bring the outcomes of products along.
const OUTCOMES: readonly EventOutcome[] = [
  'settled',
  'duplicate',
  'unknown_order',
  'lines_missing',
  'wrong_currency',
  'test_payment',
  'not_paid',
  'paid_back',
  'too_late',
  'paid_twice',
  'renewal_too_late',
  'renewal_lines_missing',
  'refunded',
  'renewals_unserved',
  'partly_refunded',
  'refund_kept',
  'inquiry',
  'dispute_won',
  'unreadable',
  'underpaid',
  'renewal_underpaid',
  'ignored'
]

const open = (entry: InboxEntry) => entry.needs_hand
const isPayment = (entry: InboxEntry) => entry.needs_hand && entry.topic === 'orders/paid'
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
  filters: [oneOf('needs_hand', ['1', '0'], 'payments.hand'), oneOf('outcome', OUTCOMES, 'payments.is')],
  drawer: PaymentDrawer,
  rowActions: [
    {
      name: 'apply',
      icon: IconArrowForwardUp,
      when: isPayment,
      form: { schema: ApplyPaymentForm, fields: [textField('order', { mono: true })], route: payments.apply }
    },
    {
      name: 'refunded',
      icon: IconReceiptRefund,
      when: isPayment,
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
