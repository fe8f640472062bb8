import type { InboxEntry } from '@netlet/contract'
import { MONEY_OUTCOMES } from '@netlet/contract/payment-codes'
import { IconArrowForwardUp, IconEyeOff, IconReceiptOff, IconReceiptRefund } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { payments } from '../../api/routes.ts'
import { ApplyPaymentForm, PaymentNoteForm, RefundForm } from '../../kit/schemas.ts'
import { code, column, defineResource, integer, moment, oneOf, textField, type T } from '../kit/index.ts'
import { askRefund, refundAmount, refundStarted } from '../orders/refund.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import { PaymentDrawer } from './drawer.tsx'
import { decisionQuestion } from './question.ts'

const open = (entry: InboxEntry) => entry.unresolved
const whyNotOpen = (entry: InboxEntry) =>
  open(entry) ? undefined : entry.outcome === null ? ('whyNot.notHandled' as const) : ('whyNot.dealtWith' as const)
/** Outcomes that returned money to the shop, and outcomes after which money may have to be refunded by other means. */
const CAME_BACK = new Set<InboxEntry['outcome']>(['dispute_won', 'refund_failed'])
const LEAVES_MONEY = new Set<InboxEntry['outcome']>(['renewals_unserved', 'refund_failed', 'cancelled_delivered'])
const settlesNothing = ({ unresolved, topic, outcome, payment }: InboxEntry) =>
  unresolved && (topic === 'orders/paid' || (CAME_BACK.has(outcome) && (payment === 'held' || payment === 'ignored')))
const leavesMoney = (entry: InboxEntry) =>
  settlesNothing(entry) || (entry.unresolved && LEAVES_MONEY.has(entry.outcome))
/** Can the platform still refund any of its payment? */
const isRefundable = ({ payment }: InboxEntry) => payment !== null && payment !== 'refunded'
const note = textField('note')
const refundQuestion = (t: T, { id, order }: InboxEntry, sent: Record<string, unknown>) =>
  askRefund(t, order, query => call(payments.refundPlan, { params: { id }, query }), sent)

/** Payment events from the platform, with decisions for those that could not be handled automatically. */
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
      name: 'refund',
      icon: IconReceiptRefund,
      danger: true,
      whyNot: entry => whyNotOpen(entry) ?? (isRefundable(entry) ? undefined : 'whyNot.noMoney'),
      form: {
        schema: RefundForm.pick({ amount: true }),
        fields: [refundAmount(t => t('payments.refundAll'))],
        route: payments.refund
      },
      confirm: refundQuestion,
      success: refundStarted
    },
    {
      name: 'refunded',
      icon: IconReceiptOff,
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
