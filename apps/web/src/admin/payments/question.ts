import type { DecisionPlan, InboxEntry, PaymentDecision } from '@netlet/contract'
import { call } from '../../api/client.ts'
import { payments } from '../../api/routes.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { moneyIn } from '../../kit/money.ts'
import { momentText } from '../../kit/time.tsx'
import { figures, type T } from '../kit/index.ts'

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
export const decisionQuestion =
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
