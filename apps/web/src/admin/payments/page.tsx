import { Skeleton } from '@mantine/core'
import type { DecisionPlan, InboxEntry, Payment, PaymentDecision } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { MONEY_OUTCOMES } from '@netlet/contract/payment-codes'
import { IconArrowForwardUp, IconEyeOff, IconReceiptOff, IconReceiptRefund } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { payments } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { type Key, useT } from '../../i18n/admin.ts'
import { currentLanguage } from '../../i18n/language.ts'
import type { Translate } from '../../i18n/words.ts'
import { moneyIn, withMoney } from '../../kit/money.ts'
import { none } from '../../kit/none.tsx'
import { ApplyPaymentForm, PaymentNoteForm, RefundForm } from '../../kit/schemas.ts'
import { StateBadge, StateWithDetails, type Tone } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { momentText } from '../../kit/time.tsx'
import {
  code,
  column,
  defineResource,
  type Fact,
  FactList,
  figures,
  integer,
  moment,
  oneOf,
  type T,
  textField,
  type Tools
} from '../kit/index.ts'
import { OrderLink } from '../orders/cells.tsx'
import { askRefund, refundAmount, refundStarted } from '../orders/refund.ts'
import classes from './payments.module.css'

/** One event beside the list: the lines of the platform's order, and what our order is missing. */
function PaymentDrawer({ id }: { id: number; row: InboxEntry | undefined; tools: Tools }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(payments.inboxEntry, { params: { id } }))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  const { entry, lines, needed, email, proposed } = data
  return (
    <div className="stack">
      <Facts entry={entry} email={email} proposed={proposed} />
      <section aria-label={t('payments.lines')}>
        <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
          {t('payments.lines')}
        </h3>
        {lines.length === 0 && <p className="dim">{t('payments.noLines')}</p>}
        <ul className={`size-body ${classes.lines}`}>
          {lines.map((line, at) => (
            <li key={`${line.variant} ${at}`}>
              <span>{line.title}</span>
              <span className="num">{`${line.quantity} × ${moneyIn(line.price, entry.currency)}`}</span>
            </li>
          ))}
        </ul>
      </section>
      {needed.length > 0 && (
        <section aria-label={t('payments.needed')}>
          <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
            {t('payments.needed')}
          </h3>
          <ul className={`size-body ${classes.lines}`}>
            {needed.map((line, at) => (
              <li key={`${line.name} ${at}`} data-short={line.paid < line.quantity}>
                <span>{line.name}</span>
                <span className="num">{t('payments.short', { paid: line.paid, quantity: line.quantity })}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Facts({ entry, email, proposed }: { entry: InboxEntry; email: string | null; proposed: string | null }) {
  const t = useT()
  const { resolution, resolution_note, resolved_by, payment } = entry
  const ended =
    resolution &&
    t('payments.resolvedBy', {
      resolution: t(`payments.by.${resolution}`),
      by: resolved_by ?? '',
      note: resolution_note ?? '–'
    })
  const facts: Fact[] = [
    [t('payments.outcome'), <OutcomeBadge entry={entry} />],
    [t('payments.platform_order'), entry.platform_order && <span className="mono">{entry.platform_order}</span>],
    [t('payments.order'), <OrderCell entry={entry} />],
    [
      t('payments.proposed'),
      proposed && (
        <>
          <span className="mono">{proposed}</span> <span className="dim">{t('payments.proposedWhy')}</span>
        </>
      )
    ],
    [t('payments.user'), entry.username],
    [t('payments.email'), email],
    [t('payments.charged'), <ChargedCell entry={entry} />],
    [t('payments.state'), payment && t(`payments.now.${payment}`)],
    [
      t('payments.refundedAmount'),
      entry.refunded && entry.refunded !== '0.00' && moneyIn(entry.refunded, entry.currency)
    ],
    [t('payments.topic'), <span className="mono">{entry.topic}</span>],
    [t('payments.resolution'), ended]
  ]
  return <FactList label={t('payments.facts')} facts={facts} />
}

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
    const amount = plan.money.map(one => moneyIn(one.amount, one.currency)).join(' + ') || '–'
    const about = { payment: entry.platform_order ?? '–', amount }
    // The payment counts, or was refunded, or its money is a part that settles nothing yet.
    const means = action === 'ignore' && entry.payment !== 'held' ? 'close' : action
    return {
      title: t(`payments.question.${action}`, about),
      body: [t(`payments.means.${means}`, about), consequence(t, plan), ...mailed(t, action, plan)].join('\n'),
      danger: plan.does === 'ends' || plan.does === 'shortens',
      adds: { plan: plan.version }
    }
  }

const open = (entry: InboxEntry) => entry.unresolved
const whyNotOpen = (entry: InboxEntry) =>
  open(entry) ? undefined : entry.outcome === null ? ('whyNot.notHandled' as const) : ('whyNot.dealtWith' as const)
/** A part of the money is no payment here, so only the platform can give it back. */
const whyPartPaid = ({ outcome }: InboxEntry) => (outcome === 'part_paid' ? ('whyNot.partPaid' as const) : undefined)
/** Outcomes that leave money in the shop, and outcomes after which money may have to be refunded by other means. */
const CAME_BACK = new Set<InboxEntry['outcome']>(['dispute_won', 'refund_failed', 'refund_stuck'])
const LEAVES_MONEY = new Set<InboxEntry['outcome']>([
  'renewals_unserved',
  'refund_failed',
  'refund_stuck',
  'cancelled_delivered'
])
/** Outcomes of a payment that counts. */
const SETTLED = new Set<InboxEntry['outcome']>(['lines_more', 'partly_refunded'])
const settlesNothing = ({ unresolved, topic, outcome, payment }: InboxEntry) =>
  unresolved &&
  ((topic === 'orders/paid' && !SETTLED.has(outcome)) ||
    (CAME_BACK.has(outcome) && (payment === 'held' || payment === 'ignored')))
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
      whyNot: entry =>
        whyNotOpen(entry) ?? whyPartPaid(entry) ?? (settlesNothing(entry) ? undefined : 'whyNot.noPayment'),
      form: { schema: ApplyPaymentForm, fields: [textField('order', { mono: true })], route: payments.apply },
      confirm: decisionQuestion('apply')
    },
    {
      name: 'refund',
      icon: IconReceiptRefund,
      danger: true,
      whyNot: entry => whyNotOpen(entry) ?? whyPartPaid(entry) ?? (isRefundable(entry) ? undefined : 'whyNot.noMoney'),
      form: {
        schema: RefundForm.pick({ amount: true }),
        fields: [refundAmount],
        route: payments.refund
      },
      confirm: refundQuestion,
      success: refundStarted
    },
    {
      name: 'refunded',
      icon: IconReceiptOff,
      whyNot: entry => whyNotOpen(entry) ?? whyPartPaid(entry) ?? (leavesMoney(entry) ? undefined : 'whyNot.noMoney'),
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

function OutcomeBadge({ entry }: { entry: InboxEntry }) {
  const t = useT()
  const { outcome, unresolved, resolution, params, waits_for: waitsFor } = entry
  const disputed = params['reason'] === 'chargeback'
  const tone = unresolved
    ? 'bad'
    : outcome === null
      ? 'wait'
      : disputed
        ? 'wait'
        : outcome === 'settled' || resolution === 'applied'
          ? 'good'
          : 'off'
  return (
    <StateWithDetails>
      <StateBadge tone={tone}>
        {disputed ? t('payments.disputed') : t(outcome ? (`payments.is.${outcome}` as Key) : 'payments.waiting')}
      </StateBadge>
      {resolution && <span className="dim">{t(`payments.by.${resolution}`)}</span>}
      {waitsFor && (
        <span className="dim size-table" style={{ maxWidth: '28rem' }}>
          {waitsFor}
        </span>
      )}
      {unresolved && (
        <span className="dim size-table" style={{ maxWidth: '28rem' }}>
          {attentionWords(t, entry)}
        </span>
      )}
    </StateWithDetails>
  )
}

/** Why it needs attention. Outcomes without a translation show the server's English. */
function attentionWords(
  t: Translate<typeof en>,
  { outcome, params: told, summary, currency }: InboxEntry
): string | null {
  const params = withMoney(told, currency)
  const key = `payments.why.${outcome}`
  if (!(key in en)) return summary
  const state = `orders.is.${params['state']}`
  return t(key as Key, state in en ? { ...params, state: t(state as Key) } : params)
}

/** Links to our order. A deleted or unknown one links to a search for its number. */
const OrderCell = ({ entry }: { entry: InboxEntry }) =>
  entry.order && entry.order_id ? (
    <OrderLink id={entry.order_id} number={entry.order} />
  ) : entry.order ? (
    <Link className="mono" to={`${pageAt('Orders')}?search=${encodeURIComponent(entry.order)}`}>
      {entry.order}
    </Link>
  ) : (
    none
  )

/** The platform's amount in its currency. */
const ChargedCell = ({ entry }: { entry: InboxEntry }) =>
  entry.charged === null ? none : <span className="num">{moneyIn(entry.charged, entry.currency)}</span>

const TONES: Record<Payment['state'], Tone> = { accepted: 'good', held: 'bad', ignored: 'off', refunded: 'off' }

export function PaymentStateBadge({ state }: { state: Payment['state'] }) {
  const t = useT()
  return <StateBadge tone={TONES[state]}>{t(`payments.now.${state}`)}</StateBadge>
}
