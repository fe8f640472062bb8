import { useState } from 'react'
import { merge, withValue, type Path } from '../../kit/merge.ts'

/**
 * What is typed over what is saved. A form shows the newest answer where nothing is typed, so that what somebody else saves takes
 * nothing away. What both changed is not written over unseen: until that is decided, a save has the version of the
 * answer that was shown before, and is refused. Spaces around a value are no change.
 * @param toldOf the saved values as they are compared, where the form does not show them
 */
export function useTyped<D extends { version: string }, V extends Record<string, string>>(
  loaded: D,
  valuesOf: (data: D) => V,
  toldOf = valuesOf
) {
  const [base, setBase] = useState(loaded)
  const [typed, setTyped] = useState<Partial<V>>({})
  const saved = valuesOf(loaded)
  const before = valuesOf(base)
  const isTyped = (name: keyof V, than: V) => {
    const value = typed[name]
    return value !== undefined && value.trim() !== than[name]?.trim()
  }
  const dirty = Object.keys(before).some(name => isTyped(name, before))
  const isOutdated = loaded.version !== base.version
  const [was, is] = [toldOf(base), toldOf(loaded)]
  const entered = Object.fromEntries(Object.entries(typed).filter(([name]) => isTyped(name, before))) as Partial<V>
  const { taken, clashes } = merge(was, { ...was, ...entered }, is)
  const take = (data: D) => {
    setBase(data)
    setTyped({})
  }
  /** Goes on from what is loaded, with what is typed. */
  const goOn = () => {
    setBase(loaded)
    setTyped(entered)
  }
  if (isOutdated && !dirty) take(loaded)
  else if (isOutdated && clashes.length === 0) goOn()
  return {
    /** Whose version a save has. */
    base,
    values: { ...saved, ...(isOutdated ? entered : typed) },
    dirty,
    change: (part: Partial<V>) => setTyped(now => ({ ...now, ...part })),
    /** Shows this answer, without what is typed. */
    take,
    /** What somebody else has saved since something was typed; undefined: nothing that was typed over. */
    meanwhile:
      dirty && isOutdated && clashes.length > 0
        ? {
            taken,
            clashes,
            onTake: ({ path }: { path: Path }) => setTyped(withValue(entered, path, undefined)),
            onKeep: goOn
          }
        : undefined
  }
}
