import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef, useState } from 'react'
import { failureText, fieldTexts } from '../i18n/failures.ts'
import { useErrorsInLanguage } from './form.ts'

type Form<Values> = Pick<UseFormReturnType<Values>, 'values' | 'errors' | 'setErrors' | 'getInputNode'>
/** `words` is a function, so that the text follows the language. `at` distinguishes repetitions of the same text. */
type Said = { words: () => string; at: number; takesFocus: boolean }

/**
 * Reports what is wrong with a form. Errors of fields show at the fields and focus the first; other errors show in one
 * alert until the form changes. Put `alert` above the form's button and `onChange` on the form. On a page with several
 * forms, give each a `name` (of `useForm`), so that the library can tell their fields apart.
 * @param placeOf maps fields of the call to the form's fields that show their errors
 */
export function useFormFailure<Values extends Record<string, unknown>>(
  form: Form<Values>,
  placeOf: Record<string, keyof Values & string> = {}
) {
  useErrorsInLanguage(form)
  const [said, setSaid] = useState<Said | null>(null)
  const say = (words: () => string, takesFocus: boolean) =>
    setSaid(before => ({ words, takesFocus, at: (before?.at ?? 0) + 1 }))
  const focusFirst = (errors: Record<string, unknown>) => {
    const first = Object.keys(form.values).find(name => errors[name])
    if (first) form.getInputNode(first)?.focus()
  }
  return {
    alert: said && <FormAlert key={said.at} words={said.words} takesFocus={said.takesFocus} />,
    onChange: () => setSaid(null),
    atFields: (errors: Record<string, string>) => {
      form.setErrors({ ...form.errors, ...errors })
      focusFirst(errors)
    },
    /** Errors of the form's own rules, and a text for the whole form. */
    invalid: (errors: Record<string, unknown>, words?: () => string) => {
      if (words) say(words, false)
      else setSaid(null)
      focusFirst(errors)
    },
    refused: (error: unknown) => {
      const texts = Object.entries(fieldTexts(error)).map(([name, text]) => [placeOf[name] ?? name, text] as const)
      const own = texts.filter(([name]) => name in form.values)
      form.setErrors(Object.fromEntries(own))
      if (own.length === 0 || own.length < texts.length) say(() => failureText(error), own.length === 0)
      else setSaid(null)
      focusFirst(Object.fromEntries(own))
    }
  }
}

/** A message for the whole form. `takesFocus`: it gets the focus when it appears. */
export function FormAlert({ words, takesFocus }: Omit<Said, 'at'>) {
  const alert = useRef<HTMLDivElement>(null)
  // The pressed button was disabled during the call and lost the focus.
  useEffect(() => {
    if (takesFocus) alert.current?.focus()
  }, [takesFocus])
  return (
    <div ref={alert} role="alert" tabIndex={-1} className="problem">
      {words()}
    </div>
  )
}
