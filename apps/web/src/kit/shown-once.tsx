import { Button } from '@mantine/core'
import { useLayoutEffect, useRef } from 'react'
import { useT } from '../i18n/account.ts'
import { CopyButton } from './copy-button.tsx'
import classes from './shown-once.module.css'

type Props = {
  /** The explanation. */
  words: string
  text: string
  /** What the text is, for the Copy button's name. */
  name: string
  onDone: () => void
}

/** A new key or secret, which the server never returns again. It takes the focus, because its form has closed. */
export function ShownOnce({ words, text, name, onDone }: Props) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  // Before the dialog that made it returns the focus.
  useLayoutEffect(() => box.current?.focus(), [text])
  return (
    <div ref={box} className={`stack ${classes.box}`} style={{ gap: '0.75rem' }} role="status" tabIndex={-1}>
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
