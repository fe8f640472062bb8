import { onlineManager } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { t } from './index.ts'
import { wordList, type Values, type Words } from './words.ts'

/** Translations of refusals and form errors by reason. Without one, the refusal's English sentence applies. */
const reasons = wordList<Words>({}, { 'zh-CN': () => import('./reasons.zh-CN.json') })

/** The translation of a reason; undefined if there is none, so the English sentence applies. */
export const wordsOf = (reason: string, params?: Values): string | undefined => reasons.find(reason, params)

/** Recently shown sentences, each with a function that says it in the current language. */
const said = new Map<string, () => string>()
const KEPT = 100

/** Remembers how to translate a sentence again, and returns the sentence. */
export function rememberSentence(sentence: string, again: () => string): string {
  said.delete(sentence)
  said.set(sentence, again)
  const [oldest] = said.keys()
  if (said.size > KEPT && oldest !== undefined) said.delete(oldest)
  return sentence
}

/** A shown sentence in the current language; unchanged if we do not know it. */
export const translateAgain = (sentence: string): string => said.get(sentence)?.() ?? sentence

/** The text for a failure: the refusal's sentence, or ours if the server sent none. `fallback` says what failed. */
export function failureText(error: unknown, fallback?: string): string {
  if (!(error instanceof ApiError)) return fallback ?? t('error.unknown')
  if (error.message) {
    const { reason, params } = error.refusal
    // For a form, the first wrong field says more than the general sentence.
    const first = reason === 'invalid' ? Object.values(fieldTexts(error))[0] : undefined
    return first ?? rememberSentence((reason && wordsOf(reason, params)) ?? error.message, () => failureText(error))
  }
  const lost = lostText(error)
  if (lost === undefined) return fallback ?? t('error.format')
  if (fallback === undefined) return rememberSentence(lost, () => failureText(error))
  // First what failed, then why.
  return /[.!?。！？]$/.test(fallback) ? `${fallback} ${lost}` : `${fallback}: ${lost}`
}

/** Why there was no answer; undefined if there was one. */
function lostText({ kind }: ApiError): string | undefined {
  if (kind === 'timeout') return t('error.timeout')
  if (kind === 'network') return onlineManager.isOnline() ? t('error.network') : t('error.offline')
  return undefined
}

/** The server's message for each field. */
export function fieldTexts(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { reason, params, errors = {}, field_reasons = {} } = error.refusal
  return Object.fromEntries(
    Object.entries(errors).map(([field, sentence]) => {
      // If the refusal concerns one field only, the field repeats its sentence and has no reason of its own.
      const known = field_reasons[field] ?? (reason && sentence === error.message ? { reason, params } : undefined)
      const words = (known && wordsOf(known.reason, known.params)) ?? sentence
      return [field, rememberSentence(words, () => fieldTexts(error)[field] ?? words)]
    })
  )
}
