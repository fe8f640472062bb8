import { notifications, notificationsStore } from '@mantine/notifications'
import { useEffect } from 'react'
import { t, useT } from '../i18n/index.ts'
import { saidAgain } from '../i18n/failures.ts'
import { useLanguage } from '../i18n/language.ts'
import { colors, readingTime, type Kind, type Message } from './message.ts'

type Toast = { count: number; ms: number; timer?: ReturnType<typeof setTimeout> }

/** Messages by text: the count, the time they stay and their timer. */
const shown = new Map<string, Toast>()

const textOf = (message: Message) => (typeof message === 'string' ? message : message())

function isThere(id: string): boolean {
  const { notifications: seen, queue } = notificationsStore.getState()
  return [...seen, ...queue].some(one => one.id === id)
}

/**
 * A message's text in the current language. Its timer starts when it renders, because it may be queued behind others.
 * It restarts with each `toast`, because a repeated message may reuse an element that is still fading out.
 */
function Words({ id, message, toast }: { id: string; message: Message; toast: Toast }) {
  const word = useT()
  useLanguage()
  useEffect(() => wait(id), [id, toast])
  return (
    <span className="breaks shrinks">
      {saidAgain(textOf(message))}
      {toast.count > 1 && <span className="dim"> ({word('toast.times', { count: toast.count })})</span>}
    </span>
  )
}

/** Shows a message. The same text replaces the earlier message and restarts its time. Under the pointer it stays. */
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
