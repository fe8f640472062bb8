import { notifications, notificationsStore } from '@mantine/notifications'
import { useEffect } from 'react'
import { t, useT } from '../i18n/index.ts'
import { saidAgain } from '../i18n/failures.ts'
import { useLanguage } from '../i18n/language.ts'
import classes from './action-toast.module.css'
import { colors, readingTime, type Kind, type Message } from './message.ts'

type Toast = { count: number; ms: number; timer?: ReturnType<typeof setTimeout> }

/** Messages by what they say: how often each was said, how long it stays, and what ends it. */
const shown = new Map<string, Toast>()

const textOf = (message: Message) => (typeof message === 'string' ? message : message())

function isThere(id: string): boolean {
  const { notifications: seen, queue } = notificationsStore.getState()
  return [...seen, ...queue].some(one => one.id === id)
}

/**
 * The words of a message, in the language that is chosen while it stands there. Its time begins when they are drawn: others
 * may stand before it, and a page that is being drawn may keep it waiting. It begins anew for each `toast`: one that is said
 * while the last of the same words still fades out is drawn by the same element.
 */
function Words({ id, message, toast }: { id: string; message: Message; toast: Toast }) {
  const word = useT()
  useLanguage()
  useEffect(() => wait(id), [id, toast])
  return (
    <span className={classes.words}>
      {saidAgain(textOf(message))}
      {toast.count > 1 && <span className="dim"> ({word('toast.times', { count: toast.count })})</span>}
    </span>
  )
}

/** Shows a message. The same one again takes the first one's place, and its time begins anew; it stays under the pointer. */
export function showToast(kind: Kind, message: Message, ms?: number): void {
  const text = textOf(message)
  const id = `${kind} ${text}`
  const known = isThere(id) ? shown.get(id) : undefined
  clearTimeout(shown.get(id)?.timer)
  const toast: Toast = { count: (known?.count ?? 0) + 1, ms: ms ?? readingTime(kind, text) }
  shown.set(id, toast)
  const stay = () => clearTimeout(shown.get(id)?.timer)
  const content = {
    id,
    message: <Words id={id} message={message} toast={toast} />,
    color: colors[kind],
    withBorder: true,
    autoClose: false as const,
    closeButtonProps: { 'aria-label': t('close') },
    onMouseEnter: stay,
    onMouseLeave: () => wait(id),
    onFocusCapture: stay,
    onBlurCapture: () => wait(id),
    onClose: () => {
      stay()
      shown.delete(id)
    }
  }
  if (known) notifications.update(content)
  else notifications.show(content)
}

function wait(id: string): void {
  const toast = shown.get(id)
  if (!toast) return
  clearTimeout(toast.timer)
  toast.timer = setTimeout(() => notifications.hide(id), toast.ms)
}
