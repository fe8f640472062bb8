/** Actions that pages add to the command palette. */

export type PaletteAction = { id: string; label: string; run: () => unknown }

/** The actions of one page. `actions` is called each time the palette renders. */
export type PaletteActions = { id: string; title: () => string; actions: () => readonly PaletteAction[] }

/** A list of registrations. A new one replaces the one with the same id. */
function registry<R extends { id: string }>() {
  let all: readonly R[] = []
  const listeners = new Set<() => void>()
  const replace = (next: readonly R[]) => {
    all = next
    for (const listener of listeners) listener()
  }
  return {
    /** @returns a function that removes it */
    register: (one: R): (() => void) => {
      replace([...all.filter(({ id }) => id !== one.id), one])
      return () => replace(all.filter(other => other !== one))
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    current: () => all
  }
}

export const paletteActions = registry<PaletteActions>()
export const registerPaletteActions = paletteActions.register

let opener: (() => void) | null = null
/** Registers how to open the palette, once its code has loaded. @returns a function that removes it */
export function offerPalette(open: () => void): () => void {
  opener = open
  return () => {
    if (opener === open) opener = null
  }
}
/** Opens the palette without the keyboard. */
export const openPalette = (): void => opener?.()
