type Draft = Record<string, string | number>

/** Milliseconds after its last change for which a draft is kept. */
const LIFE = 3_600_000
const PREFIX = 'netlet-draft-'

/**
 * A form's draft, which survives a reload of the tab. Do not store passwords in it. Without session storage there is no
 * draft.
 * @param empty the fields with their types; anything else in storage is ignored
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

/** Removes all drafts of this tab, so that the next user does not see them. */
export const forgetDrafts = (): void =>
  attempt(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  })

function stored(key: string): Record<string, unknown> {
  const found = attempt<unknown>(() => JSON.parse(sessionStorage.getItem(key) ?? 'null'))
  return typeof found === 'object' && found !== null ? { ...found } : {}
}

/** Undefined if the browser denies storage or the value is not JSON. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
