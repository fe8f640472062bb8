type LeavingGuard = { ask: () => Promise<boolean>; isUnsaved: (drafts: 'with drafts' | 'without drafts') => boolean }
let current: LeavingGuard | undefined

/** Sets the guard that `mayLeave` asks. @returns a function that removes it */
export function guardLeaving(guard: LeavingGuard): () => void {
  const before = current
  current = guard
  return () => {
    if (current === guard) current = before
  }
}

/** Whether the screen has unsaved changes. `drafts` says whether changes kept as drafts count. */
export const isUnsaved: LeavingGuard['isUnsaved'] = drafts => current?.isUnsaved(drafts) ?? false

/** Whether the screen may be left. Asks the user if it has unsaved changes. */
export const mayLeave = async (): Promise<boolean> => (current ? current.ask() : true)

let onPop: ((event: PopStateEvent) => void) | undefined

/** Calls `handle` on Back and Forward before the router handles them. @returns a function that removes it */
export function guardHistory(handle: (event: PopStateEvent) => void): () => void {
  const before = onPop
  onPop = handle
  return () => {
    if (onPop === handle) onPop = before
  }
}

/**
 * Starts listening for Back and Forward. Call it before the router starts: browsers call listeners on the window in the
 * order they were added, even with `capture`.
 */
export const watchHistory = (): void => window.addEventListener('popstate', event => onPop?.(event), { capture: true })
