type LeavingGuard = { ask: () => Promise<boolean>; isUnsaved: (drafts: 'with drafts' | 'without drafts') => boolean }
let current: LeavingGuard | undefined

/** Has `ask` answer whether what is open and not saved may be left; gives back what ends that. */
export function guardLeaving(guard: LeavingGuard): () => void {
  const before = current
  current = guard
  return () => {
    if (current === guard) current = before
  }
}

/** Whether something on the screen is not saved, and not kept as a draft either where those do not count. */
export const isUnsaved: LeavingGuard['isUnsaved'] = drafts => current?.isUnsaved(drafts) ?? false

/** Whether the screen may be left now; a person is asked where something on it is not saved. */
export const mayLeave = async (): Promise<boolean> => (current ? current.ask() : true)

let onPop: ((event: PopStateEvent) => void) | undefined

/** Has `handle` hear of the browser's back and forward before the router does; gives back what ends that. */
export function guardHistory(handle: (event: PopStateEvent) => void): () => void {
  const before = onPop
  onPop = handle
  return () => {
    if (onPop === handle) onPop = before
  }
}

/**
 * Begins to listen for the browser's back and forward: to be called before the router does. Browsers tell the window's
 * listeners of them in the order in which they were added, whether they capture or not.
 */
export const watchHistory = (): void => window.addEventListener('popstate', event => onPop?.(event), { capture: true })
