import { z } from 'zod'
import { message } from './form-messages.ts'
import type { Translations as Texts } from './languages.ts'
import { optionalText, storable } from './shapes.ts'

/** Largest number of option words of a product: the values of its options, their names, and locations. */
const MAX_WORDS = 2500

/** In replies: existing translations only; missing if there are none. */
export const Translations = z
  .object({
    'zh-CN': z
      .object({
        name: z.string(),
        desc: z.string(),
        question: z.string(),
        answer: z.string(),
        words: z.record(z.string(), z.string())
      })
      .partial()
      .optional()
  })
  .optional()

const wrong = { error: message('must_be_translations') }

/** A form's translations. Missing ones are unchanged, empty ones are removed. */
export const translationsForm = <S extends z.ZodRawShape>(texts: S) =>
  z
    .strictObject({ 'zh-CN': z.strictObject(texts, wrong).optional() }, wrong)
    .transform((given): Texts => withoutEmpty(given))
    .optional()

/** Translated words, by the original. */
export const wordsForm = z
  .record(
    z
      .string()
      .max(255, message('at_most_characters', { max: 255 }))
      .refine(storable, message('forbidden_character')),
    optionalText(),
    {
      error: ({ code }) => (code === 'invalid_key' ? message('forbidden_character') : message('must_be_translations'))
    }
  )
  .refine(words => Object.keys(words).length <= MAX_WORDS, message('must_be_at_most', { max: MAX_WORDS }))
  .optional()

/** Removes empty texts at any depth, then empty objects. */
function withoutEmpty(value: object): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]: [string, unknown]): [string, unknown][] => {
      if (typeof inner === 'string') return inner === '' ? [] : [[key, inner]]
      if (typeof inner !== 'object' || inner === null) return []
      const kept = withoutEmpty(inner)
      return Object.keys(kept).length > 0 ? [[key, kept]] : []
    })
  )
}
