import type { DecisionPlan, InboxEntry, PaymentDecision } from '@netlet/contract'
import { MONEY_OUTCOMES } from '@netlet/contract/payment-codes'
import { IconArrowForwardUp, IconEyeOff, IconReceiptOff, IconReceiptRefund } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { payments } from '../../api/routes.ts'
import { ApplyPaymentForm, PaymentNoteForm, RefundForm } from '../../kit/schemas.ts'
import { type T, code, column, defineResource, figures, integer, moment, oneOf, textField } from '../kit/index.ts'
import { askRefund, refundAmount, refundStarted } from '../orders/refund.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import { PaymentDrawer } from './drawer.tsx'
import { currentLanguage } from '../../i18n/language.ts'
import { moneyIn } from '../../kit/money.ts'
import { momentText } from '../../kit/time.tsx'

/** What the decision does to the order. */
function consequence(t: T, { does, order, proxies, days, until }: DecisionPlan): string {
  const named = { order: order ?? '–' }
  const end = until ? momentText(until, currentLanguage()) : '–'
  const said: Record<DecisionPlan['does'], string> = {
    delivers: t('payments.delivers', { ...named, ...figures({ count: proxies, days }) }),
    renews: t('payments.renews', { ...named, ...figures({ days }), until: end }),
    revives: t('payments.revives', { ...named, ...figures({ count: proxies, days }), until: end }),
    shortens: t('payments.shortens', { ...named, ...figures({ days }), until: end }),
    ends: proxies > 0 ? t('payments.ends', { ...named, ...figures({ count: proxies }) }) : t('payments.closes', named),
    nothing: order ? t('payments.keeps', named) : t('payments.concernsNone')
  }
  return said[does]
}

/** The buyer is mailed about a refund. */
const mailed = (t: T, action: PaymentDecision, { order }: DecisionPlan): string[] =>
  action === 'refunded' && order ? [t('payments.mailed', { order })] : []

/** The question before a decision about a payment: what the server would do now, or its refusal. */
const decisionQuestion =
  (action: PaymentDecision) =>
  async (t: T, entry: InboxEntry, { order }: Record<string, unknown>) => {
    const query = { action, ...(typeof order === 'string' ? { order: order.trim() } : {}) }
    const plan = await call(payments.plan, { params: { id: entry.id }, query })
    const amount = plan.charged === null ? '–' : moneyIn(plan.charged, plan.currency)
    const about = { payment: entry.platform_order ?? '–', amount }
    return {
      title: t(`payments.question.${action}`, about),
      body: [t(`payments.means.${action}`, about), consequence(t, plan), ...mailed(t, action, plan)].join('\n'),
      danger: plan.does === 'ends' || plan.does === 'shortens',
      adds: { plan: plan.version }
    }
  }

const open = (entry: InboxEntry) => entry.unresolved
const whyNotOpen = (entry: InboxEntry) =>
  open(entry) ? undefined : entry.outcome === null ? ('whyNot.notHandled' as const) : ('whyNot.dealtWith' as const)
/** Outcomes that leave money in the shop, and outcomes after which money may have to be refunded by other means. */
const CAME_BACK = new Set<InboxEntry['outcome']>(['dispute_won', 'refund_failed', 'refund_stuck'])
const LEAVES_MONEY = new Set<InboxEntry['outcome']>([
  'renewals_unserved',
  'refund_failed',
  'refund_stuck',
  'cancelled_delivered'
])
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
