import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useRef, useState } from 'react'
import { failureText, fieldTexts } from '../i18n/failures.ts'
import classes from './form-failure.module.css'
import { useErrorsInLanguage } from './form.ts'

type Form<Values> = Pick<UseFormReturnType<Values>, 'values' | 'errors' | 'setErrors' | 'getInputNode'>
/** Worded when it is shown, so that it follows a change of the language; `at` tells one from the same said again. */
type Said = { words: () => string; at: number; takesFocus: boolean }

/**
 * Says what is wrong with a form: at its fields, the first of which gets the focus, and what belongs to none of them in one
 * alert. Put `alert` above the form's button and `onChange` on the form: the alert stays until something is changed.
 * A page with several forms gives each its `name` (of `useForm`), by which the library tells their fields apart.
 * @param placeOf fields of the call that are shown at another one of the form
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
    /** What is wrong with single fields, beside what is said of others already. */
    atFields: (errors: Record<string, string>) => {
      form.setErrors({ ...form.errors, ...errors })
      focusFirst(errors)
    },
    /** What the form's own rules found, and what is said of the form as a whole. */
    invalid: (errors: Record<string, unknown>, words?: () => string) => {
      if (words) say(words, false)
      else setSaid(null)
      focusFirst(errors)
    },
    /** What the server refused. */
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

/** What is said of a form as a whole. `takesFocus`: it has the focus once it is there. */
export function FormAlert({ words, takesFocus }: Omit<Said, 'at'>) {
  const alert = useRef<HTMLDivElement>(null)
  // The button that was pressed could not keep the focus while the call was out.
  useEffect(() => {
    if (takesFocus) alert.current?.focus()
  }, [takesFocus])
  return (
    <div ref={alert} role="alert" tabIndex={-1} className={classes.alert}>
      {words()}
    </div>
  )
}
