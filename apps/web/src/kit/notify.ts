import type { ToastAction } from './action-toast.tsx'
import { loadCode } from './load-code.ts'
import { colors, type Kind, type Message } from './message.ts'

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

let loaded: ReturnType<typeof load> | undefined
const load = () => Promise.all([import('./show-toast.tsx'), import('./toaster.tsx')])
/** What draws messages; once it was loaded, without a connection, too. */
const parts = () => loaded ?? loadCode(() => (loaded = load()))

/** Has the part that draws messages loaded before there is one: without a connection it would be too late. */
export const preloadToasts = (): void => void parts().catch(() => undefined)

/** Shows a message with a button, which stays long enough to be reached. */
export function notifyWith(kind: Kind, message: string, action: ToastAction): void {
  need()
  void import('./action-toast.tsx').then(({ showActionToast }) =>
    showActionToast({ color: colors[kind], message, action, ms: WITH_ACTION })
  )
}

/**
 * Shows a short message; one that is there already stays longer and counts, instead of standing there twice. The part that
 * draws it is loaded with the first one. `ms`: how long it stays.
 */
export function notify(kind: Kind, message: Message, ms?: number): void {
  void show(kind, message, ms)
}

async function show(kind: Kind, message: Message, ms?: number): Promise<void> {
  try {
    const [{ showToast }] = await parts()
    need()
    showToast(kind, message, ms)
  } catch {
    // Without its part, which could not be loaded, the browser's own has to do.
    window.alert(typeof message === 'string' ? message : message())
  }
}
