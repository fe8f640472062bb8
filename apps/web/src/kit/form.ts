import { message, messageKeyOf } from '@netlet/contract/form-messages'
import { zod4Resolver } from 'mantine-form-zod-resolver'
import { useEffect, type ReactNode } from 'react'
import { rememberSentence, translateAgain, wordsOf } from '../i18n/failures.ts'
import { useLanguage } from '../i18n/language.ts'

/** A message of the contract's forms in the current language. */
function translate(sentence: string): string {
  const known = messageKeyOf(sentence)
  return rememberSentence((known && wordsOf(known.key, known.params)) ?? sentence, () => translate(sentence))
}

/** Like the contract's `message`, in the current language. */
export const formMessage: typeof message = (key, ...params) => translate(message(key, ...params))

/** The contract's rules as a form's validation: the first message for each field. */
export function rules(schema: Parameters<typeof zod4Resolver>[0]) {
  const check = zod4Resolver(schema, { errorPriority: 'first' })
  return (values: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(check(values)).flatMap(([field, sentence]) =>
        typeof sentence === 'string' ? [[field, translate(sentence)]] : []
      )
    )
}

type Errors = Record<string, ReactNode>

/** Translates a form's current errors when the language changes. */
export function useErrorsInLanguage({
  errors,
  setErrors
}: {
  errors: Errors
  setErrors: (errors: Errors) => void
}): void {
  const language = useLanguage()
  useEffect(() => {
    const again = Object.entries(errors).map(([field, said]) => [
      field,
      typeof said === 'string' ? translateAgain(said) : said
    ])
    if (again.length > 0) setErrors(Object.fromEntries(again) as Errors)
    // oxlint-disable-next-line react/exhaustive-deps -- when the language changes, not when the errors do
  }, [language])
}
