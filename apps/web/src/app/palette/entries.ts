import type { Icon } from '../shell/icons.ts'

/** What the palette offers: somewhere to go, or something to do. */
export type Entry = { id: string; label: string; description?: string; icon?: Icon } & (
  | { to: string }
  | { run: () => unknown }
)
export type Group = { id: string; title: string; items: Entry[] }

/** Does it have every word of a text, wherever it stands? */
export function mentions(entry: Pick<Entry, 'label' | 'description'>, text: string): boolean {
  const words = `${entry.label} ${entry.description ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => words.includes(word))
}
