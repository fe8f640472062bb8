import type { Order } from '@netlet/contract'
import en from '../i18n/account.en.json'
import type { Key } from '../i18n/account.ts'
import type { Translate, Values } from '../i18n/words.ts'

/**
 * The key of why an order or its task failed; undefined for codes of newer servers. Operators receive parameters that
 * customers do not, such as the server's name, and these select the fuller sentence.
 */
export const failureKey = (code: string, params: Values): Key | undefined =>
  [`failed.${code}.named`, `failed.${code}`].find((key): key is Key => key in en && hasAll(en[key as Key], params))

const hasAll = (sentence: string, params: Values): boolean =>
  [...sentence.matchAll(/\{(\w+)\}/g)].every(([, name]) => name !== undefined && name in params)

/** What is wrong with an order, else why its last task failed. English if there is no translation. */
export function orderFailure(t: Translate<typeof en>, order: Order): string | null {
  const failure = order.fail ?? order.task_fail
  if (!failure) return null
  const key = failureKey(failure.code, failure.params)
  return key ? t(key, failure.params) : (order.fail_reason ?? order.task_error)
}
