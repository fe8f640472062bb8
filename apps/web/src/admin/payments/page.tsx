import type { InboxEntry } from '@netlet/contract'
import { MONEY_OUTCOMES } from '@netlet/contract/payment-codes'
import { IconArrowForwardUp, IconEyeOff, IconReceiptRefund } from '@tabler/icons-react'
import { payments } from '../../api/routes.ts'
import { ApplyPaymentForm, PaymentNoteForm } from '../../kit/schemas.ts'
import { code, column, defineResource, integer, moment, oneOf, textField } from '../kit/index.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import { PaymentDrawer } from './drawer.tsx'
import { decisionQuestion } from './question.ts'

const open = (entry: InboxEntry) => entry.unresolved
const whyNotOpen = (entry: InboxEntry) =>
  open(entry) ? undefined : entry.outcome === null ? ('whyNot.notHandled' as const) : ('whyNot.dealtWith' as const)
/** Outcomes by which money is the shop's again, and those of which it may have gone back by other means, also where it counts. */
const CAME_BACK = new Set<InboxEntry['outcome']>(['dispute_won', 'refund_failed'])
const LEAVES_MONEY = new Set<InboxEntry['outcome']>(['renewals_unserved', 'refund_failed'])
const settlesNothing = ({ unresolved, topic, outcome, payment }: InboxEntry) =>
  unresolved && (topic === 'orders/paid' || (CAME_BACK.has(outcome) && (payment === 'held' || payment === 'ignored')))
/** Money in the buyer's currency, of which somebody may decide that it is all of the payment. */
const isUnknown = ({ unresolved, params }: InboxEntry) => unresolved && params['key'] !== undefined
const leavesMoney = (entry: InboxEntry) =>
  settlesNothing(entry) || isUnknown(entry) || (entry.unresolved && LEAVES_MONEY.has(entry.outcome))
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
    moment('received_at')
  ],
  sort: ['id'],
  filters: [
    oneOf('unresolved', ['1', '0'], 'payments.unresolvedIs'),
    oneOf('outcome', MONEY_OUTCOMES, 'payments.is'),
    oneOf('late', ['1'], 'payments.lateIs')
  ],
  drawer: PaymentDrawer,
  rowActions: [
    {
      name: 'apply',
      icon: IconArrowForwardUp,
      whyNot: entry => whyNotOpen(entry) ?? (settlesNothing(entry) ? undefined : 'whyNot.noPayment'),
      form: { schema: ApplyPaymentForm, fields: [textField('order', { mono: true })], route: payments.apply },
      confirm: decisionQuestion('apply')
    },
    {
      name: 'refunded',
      icon: IconReceiptRefund,
      whyNot: entry => whyNotOpen(entry) ?? (leavesMoney(entry) ? undefined : 'whyNot.noMoney'),
      form: { schema: PaymentNoteForm, fields: [note], route: payments.markRefunded },
      confirm: decisionQuestion('refunded')
    },
    {
      name: 'ignore',
      icon: IconEyeOff,
      whyNot: whyNotOpen,
      form: { schema: PaymentNoteForm, fields: [note], route: payments.ignore },
      confirm: decisionQuestion('ignore')
    }
  ],
  csv: true
})
