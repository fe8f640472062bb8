import type { Icon } from '../shell/icons.ts'

/** A palette entry leads to a page or runs an action. */
export type Entry = { id: string; label: string; description?: string; icon?: Icon } & (
  | { to: string }
  | { run: () => unknown }
)
export type Group = { id: string; title: string; items: Entry[] }

/** Does the entry contain every word of the text, in any order? */
export function mentions(entry: Pick<Entry, 'label' | 'description'>, text: string): boolean {
  const words = `${entry.label} ${entry.description ?? ''}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every(word => words.includes(word))
}
