import type { Order } from '@netlet/contract'
import en from '../i18n/account.en.json'
import type { Key } from '../i18n/account.ts'
import type { Translate, Values } from '../i18n/words.ts'

/**
 * The words for why an order or its task failed; undefined for a code that a newer server sends. Administrators get
 * parameters that customers do not, such as the server's name: with them it is the fuller sentence.
 */
export const failureKey = (code: string, params: Values): Key | undefined =>
  [`failed.${code}.named`, `failed.${code}`].find((key): key is Key => key in en && hasAll(en[key as Key], params))

const hasAll = (sentence: string, params: Values): boolean =>
  [...sentence.matchAll(/\{(\w+)\}/g)].every(([, name]) => name !== undefined && name in params)

/** What is wrong with an order, else how its last task failed. The server's English does for a code without words. */
export function orderFailure(t: Translate<typeof en>, order: Order): string | null {
  const failure = order.fail ?? order.task_fail
  if (!failure) return null
  const key = failureKey(failure.code, failure.params)
  return key ? t(key, failure.params) : (order.fail_reason ?? order.task_error)
}
