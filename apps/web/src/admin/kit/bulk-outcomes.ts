import type { BulkAction, BulkPlan } from '@netlet/contract'
import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import { wordsOf } from '../../i18n/failures.ts'
import { numberText } from '../../kit/number.ts'
import type { T } from './resource.ts'

const sum = (all: readonly { rows: number }[]) => all.reduce((rows, one) => rows + one.rows, 0)

/** How many rows would be refused now, and why. */
function refusalText(t: T, { reason, rows }: { reason: string; rows: number }): string {
  const key = `bulkPlan.because.${reason}`
  const count = numberText(rows)
  return key in en ? t(key as Key, { count }) : t('bulkPlan.other', { count, reason: wordsOf(reason) ?? reason })
}

/** What a batch would do and refuse, as lines for its confirmation. */
export function outcomeLines(t: T, action: BulkAction, { rows, outcomes }: BulkPlan): string[] {
  if (!outcomes) return [t('bulkPlan.unknown')]
  const { effects, refusals } = outcomes
  const told = effects.filter(({ effect }) => effect !== 'done')
  const list = (entries: string[]) => entries.map(entry => `– ${entry}`)
  return [
    t(`bulkPlan.will.${action}` as Key, { count: numberText(sum(effects)), total: numberText(rows) }),
    ...list(told.map(({ effect, rows }) => t(`bulkPlan.effect.${effect}` as Key, { count: numberText(rows) }))),
    ...(refusals.length === 0 ? [] : [t('bulkPlan.refused', { count: numberText(sum(refusals)) })]),
    ...list(refusals.map(refusal => refusalText(t, refusal)))
  ]
}
