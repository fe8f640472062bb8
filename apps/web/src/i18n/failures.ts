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

/** What to tell a person about a failure: the refusal's words, or ours where the server sent none. `fallback`: what failed. */
export function failureText(error: unknown, fallback?: string): string {
  if (!(error instanceof ApiError)) return fallback ?? t('error.unknown')
  if (error.message) {
    const { reason, params } = error.refusal
    // Of a form, the first field that is wrong says more than that something is.
    const first = reason === 'invalid' ? Object.values(fieldTexts(error))[0] : undefined
    return first ?? (reason && wordsOf(reason, params)) ?? error.message
  }
  const lost = error.kind === 'timeout' ? t('error.timeout') : error.kind === 'network' ? t('error.network') : undefined
  if (lost === undefined) return fallback ?? t('error.format')
  if (fallback === undefined) return lost
  // What could not be done, then why.
  return /[.!?。！？]$/.test(fallback) ? `${fallback} ${lost}` : `${fallback}: ${lost}`
}

/** What the server said about single fields. */
export function fieldTexts(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { reason, params, errors = {}, field_reasons = {} } = error.refusal
  return Object.fromEntries(
    Object.entries(errors).map(([field, sentence]) => {
      // A field that is all that the refusal is about repeats its sentence, without a reason of its own.
      const known = field_reasons[field] ?? (reason && sentence === error.message ? { reason, params } : undefined)
      return [field, (known && wordsOf(known.reason, known.params)) ?? sentence]
    })
  )
}
