import type { Selected } from '../../kit/index.ts'

/** The servers to upgrade, from the address: ids, or the query of all matching rows. */
export type Chosen = { ids: number[] } | { query: Record<string, string> }

export const chosenText = (selected: Selected): string =>
  JSON.stringify('ids' in selected ? { ids: selected.ids } : { query: selected.query })

/** Parses the address; null if it is invalid. The server checks the rest. */
export function chosenOf(text: string | null): Chosen | null {
  if (!text) return null
  try {
    const { ids, query } = JSON.parse(text) as { ids?: unknown; query?: unknown }
    if (Array.isArray(ids) && ids.every(id => Number.isInteger(id))) return { ids: ids as number[] }
    const isQuery =
      typeof query === 'object' && query !== null && Object.values(query).every(one => typeof one === 'string')
    return isQuery ? { query: query as Record<string, string> } : null
  } catch {
    return null
  }
}
