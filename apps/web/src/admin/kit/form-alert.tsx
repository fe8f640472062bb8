import { useEffect, useRef, type ComponentProps } from 'react'
import { ChangedMeanwhile } from './changed-meanwhile.tsx'
import classes from './kit.module.css'

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
