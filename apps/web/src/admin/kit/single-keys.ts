/** Where this browser keeps that the keys are off. */
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

/**
 * Whether keys without Ctrl or Alt (j, k, x, /) do something. Who dictates, or presses keys by mistake, can switch them off (WCAG 2.1.4);
 * kept in this browser.
 */
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
      // It holds as long as the page is open.
    }
    for (const listener of listeners) listener()
  }
}
