import { notifications, notificationsStore } from '@mantine/notifications'
import { type FocusEvent, useEffect } from 'react'
import { t, useT } from '../i18n/index.ts'
import { translateAgain } from '../i18n/failures.ts'
import { useLanguage } from '../i18n/language.ts'
import { colors, type Kind, type Message, readingTime } from './message.ts'
import { Button } from '@mantine/core'

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
      {translateAgain(textOf(message))}
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

/** A button in a message. `about`: what the message concerns. `onGone` runs when the message closes, pressed or not. */
export type ToastAction = { label: string; about?: string | undefined; run: () => void; onGone?: () => void }

type Options = { color: string; message: string; action: ToastAction; ms: number }

/** Shows a message with a button. `ms` after the pointer and focus have left, it closes and returns the focus. */
export function showActionToast({ color, message, action, ms }: Options): void {
  let left: ReturnType<typeof setTimeout> | undefined
  let from: Element | null = null
  const inside = { pointer: false, focus: false }
  const gone = () => {
    clearTimeout(left)
    action.onGone?.()
  }
  const hide = () => {
    notifications.hide(id)
    if (!inside.focus) return
    const place = from instanceof HTMLElement && from.isConnected ? from : document.getElementById('content')
    place?.focus()
  }
  const wait = () => {
    clearTimeout(left)
    if (!inside.pointer && !inside.focus) left = setTimeout(hide, ms)
  }
  const note = (what: keyof typeof inside, is: boolean) => () => {
    inside[what] = is
    wait()
  }
  let done = false
  const act = () => {
    if (done) return
    done = true
    hide()
    action.run()
  }
  const id = notifications.show({
    color,
    autoClose: false,
    withBorder: true,
    onClose: gone,
    closeButtonProps: { 'aria-label': t('close') },
    onMouseEnter: note('pointer', true),
    onMouseLeave: note('pointer', false),
    onFocusCapture: (event: FocusEvent<HTMLElement>) => {
      if (!inside.focus) from = event.relatedTarget
      note('focus', true)()
    },
    onBlurCapture: note('focus', false),
    message: (
      <span className="row unwrapped between">
        <span className="breaks shrinks">
          <span>{message}</span>
          {action.about && (
            <span className="clamped dim" title={action.about}>
              {action.about}
            </span>
          )}
        </span>
        <Button size="compact-sm" variant="default" className="rigid" onClick={act}>
          {action.label}
        </Button>
      </span>
    )
  })
  wait()
}
