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

/** Shows a short message. The part that draws it is loaded with the first one. `ms`: how long it stays. */
export function notify(kind: Kind, message: string, ms = 3000): void {
  needed = true
  for (const listener of listeners) listener()
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({ message, color: colors[kind], autoClose: ms, withBorder: true })
  )
}
