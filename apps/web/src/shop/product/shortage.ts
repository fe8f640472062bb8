import type { Shortage } from '@netlet/contract'
import { ApiError } from '../../api/client.ts'
import { failureText } from '../../i18n/failures.ts'
import type { Key } from '../../i18n/product.ts'
import type { Translate } from '../../i18n/words.ts'
import { numberText } from '../../kit/number.ts'

type T = Translate<Record<Key, string>>

/** 'Video (8 free), Social (16 free)' */
export const shortRules = (t: T, rules: readonly Omit<Shortage['short'][number], 'acl_id'>[]): string =>
  rules.map(rule => t('order.shortRule', { name: rule.acl_name, stock: numberText(rule.stock) })).join(', ')

/** Why an order was not placed: where stock is short, of which rules, or of all together. */
export function orderFailureText(t: T, error: unknown): string {
  const { reason, short, stock } = error instanceof ApiError ? error.refusal : {}
  if (reason !== 'out_of_stock') return failureText(error, t('order.failed'))
  if (short?.length) return t('order.short', { rules: shortRules(t, short) })
  return stock === undefined ? t('order.outOfStock') : t('order.shortTogether', { stock: numberText(stock) })
}
