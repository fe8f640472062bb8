/** What the command palette offers beside the screens. Open: whoever has something to do registers it. */

export type PaletteAction = { id: string; label: string; run: () => unknown }

/** What can be done here: `actions` is asked when the palette is drawn. */
export type PaletteActions = { id: string; title: () => string; actions: () => readonly PaletteAction[] }

/** A list of what is registered; a registration takes the place of the one with the same id. */
function registry<R extends { id: string }>() {
  let all: readonly R[] = []
  const listeners = new Set<() => void>()
  const replace = (next: readonly R[]) => {
    all = next
    for (const listener of listeners) listener()
  }
  return {
    /** @returns how to remove it */
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
/** The palette says how it is opened, once its code is there. @returns how to take that back */
export function offerPalette(open: () => void): () => void {
  opener = open
  return () => {
    if (opener === open) opener = null
  }
}
/** Opens the palette, for those who have no Ctrl key. */
export const openPalette = (): void => opener?.()
