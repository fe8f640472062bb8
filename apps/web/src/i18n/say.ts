import { ApiError } from '../api/client.ts'
import { t } from './index.ts'
import { currentLanguage } from './language.ts'
import { wordList, type Words } from './words.ts'

/**
 * The sentences that the server and the forms say are English and fixed; these are their translations, by sentence.
 * What has none is shown as it came.
 */
const sentences = wordList<Words>({}, { 'zh-CN': () => import('./messages.zh-CN.json') })

export const say = (sentence: string): string => (currentLanguage() === 'en' ? sentence : sentences.t(sentence))

/** What to tell a person about a failure: the server's words, or ours where it sent none. */
export function failureText(error: unknown, fallback?: string): string {
  if (!(error instanceof ApiError)) return fallback ?? t('error.unknown')
  if (error.message) return say(error.message)
  if (error.kind === 'timeout') return t('error.timeout')
  if (error.kind === 'network') return t('error.network')
  return fallback ?? t('error.format')
}
