import { onlineManager } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'
import { t } from './index.ts'
import { wordList, type Values, type Words } from './words.ts'

/**
 * What the server refuses and what forms find wrong, by reason. English comes with the refusal itself, as the contract
 * says it; a reason that a catalogue does not have is shown in English.
 */
const reasons = wordList<Words>({}, { 'zh-CN': () => import('./reasons.zh-CN.json') })

/** The words of a reason in the chosen language; undefined where its English sentence has to do. */
export const wordsOf = (reason: string, params?: Values): string | undefined => reasons.find(reason, params)

/** Sentences that are or were shown lately, each with how to say it in the language that is chosen by then. */
const said = new Map<string, () => string>()
const KEPT = 100

/** Notes how to say a sentence again, and gives it back. */
export function noted(sentence: string, again: () => string): string {
  said.delete(sentence)
  said.set(sentence, again)
  const [oldest] = said.keys()
  if (said.size > KEPT && oldest !== undefined) said.delete(oldest)
  return sentence
}

/** A sentence that is on the screen, in the language that was chosen meanwhile; as it is where nothing is noted of it. */
export const saidAgain = (sentence: string): string => said.get(sentence)?.() ?? sentence

/** What to tell a person about a failure: the refusal's words, or ours where the server sent none. `fallback`: what failed. */
export function failureText(error: unknown, fallback?: string): string {
  if (!(error instanceof ApiError)) return fallback ?? t('error.unknown')
  if (error.message) {
    const { reason, params } = error.refusal
    // Of a form, the first field that is wrong says more than that something is.
    const first = reason === 'invalid' ? Object.values(fieldTexts(error))[0] : undefined
    return first ?? noted((reason && wordsOf(reason, params)) ?? error.message, () => failureText(error))
  }
  const lost = lostText(error)
  if (lost === undefined) return fallback ?? t('error.format')
  if (fallback === undefined) return noted(lost, () => failureText(error))
  // What could not be done, then why.
  return /[.!?。！？]$/.test(fallback) ? `${fallback} ${lost}` : `${fallback}: ${lost}`
}

/** Why there was no answer; undefined where there was one. */
function lostText({ kind }: ApiError): string | undefined {
  if (kind === 'timeout') return t('error.timeout')
  if (kind === 'network') return onlineManager.isOnline() ? t('error.network') : t('error.offline')
  return undefined
}

/** What the server said about single fields. */
export function fieldTexts(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { reason, params, errors = {}, field_reasons = {} } = error.refusal
  return Object.fromEntries(
    Object.entries(errors).map(([field, sentence]) => {
      // A field that is all that the refusal is about repeats its sentence, without a reason of its own.
      const known = field_reasons[field] ?? (reason && sentence === error.message ? { reason, params } : undefined)
      const words = (known && wordsOf(known.reason, known.params)) ?? sentence
      return [field, noted(words, () => fieldTexts(error)[field] ?? words)]
    })
  )
}
