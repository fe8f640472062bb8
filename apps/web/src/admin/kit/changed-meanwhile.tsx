import { Button } from '@mantine/core'
import { type ComponentProps, useEffect, useRef } from 'react'
import { useT } from '../../i18n/admin.ts'
import type { Clash, Path, Taken } from '../../kit/merge.ts'
import classes from './kit.module.css'

type Props = {
  taken: readonly Taken[]
  clashes: readonly Clash[]
  labelOf: (path: Path) => string
  /** Formats a value that is not text. */
  told?: ((path: Path, value: unknown) => string) | undefined
  /** Replaces the entered value with the one that another user saved. */
  onTake: (clash: Clash) => void
}

const plain = (_path: Path, value: unknown): string => (typeof value === 'string' ? value : '')
/** A certificate or long text would push the form away. */
const short = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text || '–')

/**
 * Lists what another user saved while the form was open: values the form took over, and conflicts. In a conflict the
 * entered value stays until the user chooses the other.
 */
export function ChangedMeanwhile({ taken, clashes, labelOf, told = plain, onTake }: Props) {
  const t = useT()
  const text = (path: Path, value: unknown) => short(told(path, value))
  return (
    <>
      {taken.length > 0 && (
        <>
          <p>{t('form.taken')}</p>
          <ul>
            {taken.map(({ path, was, is }) => (
              <li key={path.join('/')}>
                {t('form.staleField', { field: labelOf(path), was: text(path, was), is: text(path, is) })}
              </li>
            ))}
          </ul>
        </>
      )}
      {clashes.length > 0 && (
        <>
          <p>{t('form.clashes')}</p>
          <ul className={classes.clashes}>
            {clashes.map(clash => {
              const { path, mine, theirs } = clash
              const field = labelOf(path)
              return (
                <li key={path.join('/')}>
                  <span>{t('form.clash', { field, mine: text(path, mine), theirs: text(path, theirs) })}</span>{' '}
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={t('form.takeTheirsOf', { field })}
                    onClick={() => onTake(clash)}
                  >
                    {t('form.takeTheirs')}
                  </Button>
                </li>
              )
            })}
          </ul>
        </>
      )}
    </>
  )
}

/** The same for a form that learns of it while the user types. It blocks saving, but takes no focus. */
export function UndecidedClashes({ onKeep, ...meanwhile }: Props & { onKeep: () => void }) {
  const t = useT()
  return (
    <div role="alert" className={`stack start ${classes.alert}`}>
      <p>{t('form.changedMeanwhile')}</p>
      <ChangedMeanwhile {...meanwhile} />
      <Button size="compact-sm" variant="default" onClick={onKeep}>
        {t('form.keepMine')}
      </Button>
    </div>
  )
}

/** Why a form was not saved, and what another user changed. */
export function FormAlert({ failure, ...meanwhile }: { failure: string } & ComponentProps<typeof ChangedMeanwhile>) {
  const alert = useRef<HTMLDivElement>(null)
  // The pressed button was disabled during the call and lost the focus.
  useEffect(() => {
    if (failure) alert.current?.focus()
  }, [failure])
  if (!failure) return null
  return (
    <div ref={alert} role="alert" tabIndex={-1} className={`stack start ${classes.alert}`}>
      <p>{failure}</p>
      <ChangedMeanwhile {...meanwhile} />
    </div>
  )
}
