type Draft = Record<string, string | number>

/** Milliseconds that a draft is kept after its last change: whoever comes later begins anew. */
const LIFE = 3_600_000
const PREFIX = 'netlet-draft-'

/**
 * What was typed into a form, for a reload of its tab. Passwords do not belong in it. Where the browser keeps nothing, there
 * is no draft.
 * @param empty names what is kept, and of which kind it is: anything else in the store is left out
 */
export function draftOf<T extends Draft>(name: string, empty: T) {
  const key = PREFIX + name
  return {
    read(): T {
      const { at, ...kept } = stored(key)
      if (typeof at !== 'number' || Math.abs(Date.now() - at) > LIFE) return empty
      const known = Object.entries(kept).filter(([name, value]) => typeof value === typeof empty[name])
      return { ...empty, ...Object.fromEntries(known) }
    },
    keep(values: T): void {
      attempt(() => sessionStorage.setItem(key, JSON.stringify({ ...values, at: Date.now() })))
    },
    forget(): void {
      attempt(() => sessionStorage.removeItem(key))
    }
  }
}

/** Removes all drafts of this tab: whoever uses it next has typed none of them. */
export const forgetDrafts = (): void =>
  attempt(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  })

function stored(key: string): Record<string, unknown> {
  const found = attempt<unknown>(() => JSON.parse(sessionStorage.getItem(key) ?? 'null'))
  return typeof found === 'object' && found !== null ? { ...found } : {}
}

/** Undefined where the browser refuses its store, or what is in it is no JSON. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
