import { t } from '../i18n/index.ts'
import type { ToastAction } from './action-toast.tsx'

type Kind = 'good' | 'bad' | 'info'
const colors = { good: 'green', bad: 'red', info: 'lagoon' } as const

let needed = false
const listeners = new Set<() => void>()

export const toaster = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  needed: () => needed
}

/** Milliseconds that a message with a button stays after pointer and keyboard have left it. */
const WITH_ACTION = 10_000

function need(): void {
  needed = true
  for (const listener of listeners) listener()
}

/** Shows a message with a button, which stays long enough to be reached. */
export function notifyWith(kind: Kind, message: string, action: ToastAction): void {
  need()
  void import('./action-toast.tsx').then(({ showActionToast }) =>
    showActionToast({ color: colors[kind], message, action, ms: WITH_ACTION })
  )
}

/** Shows a short message. The part that draws it is loaded with the first one. `ms`: how long it stays. */
export function notify(kind: Kind, message: string, ms = 3000): void {
  need()
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({
      message,
      color: colors[kind],
      autoClose: ms,
      withBorder: true,
      closeButtonProps: { 'aria-label': t('close') }
    })
  )
}
