import type { ToastAction } from './show-toast.tsx'
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

/** Milliseconds that a message with a button stays after the pointer and the focus have left it. */
const WITH_ACTION = 10_000
function need(): void {
  needed = true
  for (const listener of listeners) listener()
}

let loaded: ReturnType<typeof load> | undefined
const load = () => Promise.all([import('./show-toast.tsx'), import('./toaster.tsx')])
/** The code that draws messages. Once loaded it also works offline. */
const parts = () => loaded ?? loadCode(() => (loaded = load()))

/** Loads the code of messages in advance, because it cannot be loaded offline. */
export const preloadToasts = (): void => void parts().catch(() => undefined)

/** Shows a message with a button. It stays long enough to be reached. */
export function notifyWith(kind: Kind, message: string, action: ToastAction): void {
  need()
  void import('./show-toast.tsx').then(({ showActionToast }) =>
    showActionToast({ color: colors[kind], message, action, ms: WITH_ACTION })
  )
}

/** Shows a short message. If the same one is already shown, it counts up and stays longer. `ms`: how long it stays. */
export function notify(kind: Kind, message: Message, ms?: number): void {
  void show(kind, message, ms)
}

async function show(kind: Kind, message: Message, ms?: number): Promise<void> {
  try {
    const [{ showToast }] = await parts()
    need()
    showToast(kind, message, ms)
  } catch {
    // If the code of messages does not load, use the browser's alert.
    window.alert(typeof message === 'string' ? message : message())
  }
}
