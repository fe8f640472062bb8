import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { FocusEvent } from 'react'
import { t } from '../i18n/index.ts'

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
