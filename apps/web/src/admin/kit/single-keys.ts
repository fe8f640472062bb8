/** The browser's storage key for "off". */
const KEY = 'netlet-single-keys'

function isKeptOff(): boolean {
  try {
    return localStorage.getItem(KEY) === 'off'
  } catch {
    return false
  }
}

let on = !isKeptOff()
const listeners = new Set<() => void>()

/** Whether single keys (j, k, x, /) are active. Speech input needs them off (WCAG 2.1.4). Kept in this browser. */
export const singleKeys = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => on,
  set(next: boolean): void {
    on = next
    try {
      if (next) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, 'off')
    } catch {
      // Without storage it lasts until the page closes.
    }
    for (const listener of listeners) listener()
  }
}
