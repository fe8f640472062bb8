import type { ReactNode } from 'react'
import classes from './message-thread.module.css'
import { Moment } from './time.tsx'

type Message = {
  id: number
  who: string
  text: string
  created_at: string
  /** The reader's side, the other side, or a note among operators. */
  look: 'own' | 'other' | 'note'
  below?: ReactNode
}

/** The messages of a ticket, oldest first. Their text is never read as HTML. */
export function MessageThread({ label, messages }: { label: string; messages: readonly Message[] }) {
  return (
    <ol className={classes.thread} aria-label={label}>
      {messages.map(({ id, who, text, created_at, look, below }) => (
        <li key={id} className="size-body" data-look={look}>
          <p className="row between" style={{ gap: '0 1rem' }}>
            <strong className="breaks shrinks">{who}</strong>
            <span className="dim size-label">
              <Moment at={created_at} />
            </span>
          </p>
          <p className="lines">{text}</p>
          {below}
        </li>
      ))}
    </ol>
  )
}
