import { Button } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import { useT } from '../i18n/account.ts'
import { CopyButton } from './copy-button.tsx'
import classes from './shown-once.module.css'

type Props = {
  /** What is said of it. */
  words: string
  text: string
  /** What it is, for its button Copy. */
  name: string
  onDone: () => void
}

/** A key or secret that was just made: no later reply tells it again. It takes the focus, as its form is gone by then. */
export function ShownOnce({ words, text, name, onDone }: Props) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  // Before the dialog that made it gives the focus back.
  useLayoutEffect(() => box.current?.focus(), [text])
  return (
    <div ref={box} className={classes.box} role="status" tabIndex={-1}>
      <p>{words}</p>
      <code className="mono">{text}</code>
      <div className="row">
        <CopyButton text={text} name={name} size="sm" variant="filled" />
        <Button variant="default" onClick={onDone}>
          {t('keys.done')}
        </Button>
      </div>
    </div>
  )
}
