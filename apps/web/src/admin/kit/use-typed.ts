import { useState } from 'react'

/**
 * What is typed over what is saved. While nothing is typed a form shows the newest answer; from then on it keeps the one
 * that was shown, so that what somebody else saves takes nothing away and is not written over unseen: until `take` or
 * `keep`, a save has the version of that answer, and is refused. Spaces around a value are no change.
 */
export function useTyped<D extends { version: string }, V extends Record<string, string>>(
  loaded: D,
  valuesOf: (data: D) => V
) {
  const [base, setBase] = useState(loaded)
  const [typed, setTyped] = useState<Partial<V>>({})
  const saved = valuesOf(base)
  const values: V = { ...saved, ...typed }
  const dirty = Object.entries(saved).some(([name, value]) => values[name]?.trim() !== value.trim())
  const take = (data: D) => {
    setBase(data)
    setTyped({})
  }
  const isOutdated = loaded.version !== base.version
  if (!dirty && isOutdated) take(loaded)
  return {
    /** What the form compares with, whose version a save has. */
    base,
    values,
    dirty,
    change: (part: Partial<V>) => setTyped(before => ({ ...before, ...part })),
    /** Shows this answer, without what is typed. */
    take,
    /** Something is typed, and somebody else has saved since. */
    isOutdated: dirty && isOutdated,
    /** Takes what somebody else has saved. */
    takeTheirs: () => take(loaded),
    /** Keeps what is typed, over what somebody else has saved. */
    keepMine: () => setBase(loaded)
  }
}
