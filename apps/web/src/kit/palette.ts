/** What the command palette offers beside the screens. Open: whoever has something to find registers a source. */

export type PaletteItem = { id: string; label: string; description?: string; to: string }

export type PaletteSource = {
  id: string
  /** The heading above its items, in the chosen language. */
  title: () => string
  /** What matches; `term` is trimmed and not empty. A failure shows nothing. */
  find: (term: string, signal: AbortSignal) => readonly PaletteItem[] | Promise<readonly PaletteItem[]>
}

let sources: readonly PaletteSource[] = []
const listeners = new Set<() => void>()

/** Adds a source, or takes the place of the one with the same id. @returns how to remove it */
export function registerPaletteSource(source: PaletteSource): () => void {
  replace([...sources.filter(({ id }) => id !== source.id), source])
  return () => replace(sources.filter(one => one !== source))
}

function replace(next: readonly PaletteSource[]): void {
  sources = next
  for (const listener of listeners) listener()
}

export const paletteSources = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => sources
}
