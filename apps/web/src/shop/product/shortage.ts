import type { RuleStock } from '@netlet/contract'
import { ApiError } from '../../api/client.ts'
import { failureText } from '../../i18n/failures.ts'
import type { Names } from '../../i18n/names.ts'
import type { Key } from '../../i18n/product.ts'
import type { Translate } from '../../i18n/words.ts'
import { numberText } from '../../kit/number.ts'

type T = Translate<Record<Key, string>>

type Short = Pick<RuleStock, 'acl_name' | 'stock' | 'translations'>

/** 'Video (8 free), Social (16 free)' */
export const shortRules = (t: T, rules: readonly Short[], names: Names): string =>
  rules.map(rule => t('order.shortRule', { name: names.rule(rule), stock: numberText(rule.stock) })).join(', ')

/**
 * Why an order was not placed; if stock is short, for which rules, or in total.
 * @param offered the rules as the shop lists them
 */
export function orderFailureText(t: T, error: unknown, names: Names, offered: readonly RuleStock[] = []): string {
  const { reason, short, stock } = error instanceof ApiError ? error.refusal : {}
  if (reason !== 'out_of_stock') return failureText(error, t('order.failed'))
  const listed = short?.map(rule => ({ ...offered.find(one => one.acl_id === rule.acl_id), ...rule }))
  if (listed?.length) return t('order.short', { rules: shortRules(t, listed, names) })
  return stock === undefined ? t('order.outOfStock') : t('order.shortTogether', { stock: numberText(stock) })
}
