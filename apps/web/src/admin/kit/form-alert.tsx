import { Button } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useT } from '../../i18n/admin.ts'
import classes from './kit.module.css'

/** A field that somebody else has changed since the form was opened. */
export type Difference = { name: string; was: string; is: string }

type Props = {
  failure: string
  stale: readonly Difference[]
  labelOf: (name: string) => string
  /** Takes over what somebody else has saved. */
  onTake: () => void
}

/** Why a form was not saved, and what has changed meanwhile. */
export function FormAlert({ failure, stale, labelOf, onTake }: Props) {
  const t = useT()
  const alert = useRef<HTMLDivElement>(null)
  // The button that was pressed could not keep the focus while the call was out.
  useEffect(() => {
    if (failure) alert.current?.focus()
  }, [failure])
  if (!failure) return null
  return (
    <div ref={alert} role="alert" tabIndex={-1} className={classes.alert}>
      <p>{failure}</p>
      {stale.length > 0 && (
        <>
          <p>{t('form.stale')}</p>
          <ul>
            {stale.map(({ name, was, is }) => (
              <li key={name}>{t('form.staleField', { field: labelOf(name), was: was || '–', is: is || '–' })}</li>
            ))}
          </ul>
          <Button size="compact-sm" variant="default" onClick={onTake}>
            {t('form.takeTheirs')}
          </Button>
        </>
      )}
    </div>
  )
}
