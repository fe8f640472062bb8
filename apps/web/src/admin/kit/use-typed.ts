import { useState } from 'react'
import { useLeaveGuard, type LeaveOptions } from '../../kit/leave-guard.ts'
import { merge, withValue, type Path } from '../../kit/merge.ts'
import { useFormDraft, useKeptDraft } from './form-draft.ts'

type Options<D, V> = {
  /** Names its draft. */
  name: string
  /** The parameter of the address that opens the form. */
  param: LeaveOptions['param']
  valuesOf: (data: D) => V
  /** The saved values as they are compared, where the form does not show them. */
  toldOf?: (data: D) => V
  /** Whether no draft keeps a value. */
  isSecret?: (name: string) => boolean
}

/**
 * What is typed over what is saved. A form shows the newest answer where nothing is typed, so that what somebody else saves takes
 * nothing away. What both changed is not written over unseen: until that is decided, a save has the version of the
 * answer that was shown before, and is refused. Spaces around a value are no change. What is typed is kept as a draft with what
 * it was typed over, so that it is merged with what is saved by then.
 */
export function useTyped<D extends { version: string }, V extends Record<string, string>>(
  loaded: D,
  { name, param, valuesOf, toldOf = valuesOf, isSecret = () => false }: Options<D, V>
) {
  const draft = useFormDraft<{ base: D; typed: Partial<V> }>(name, '')
  const [base, setBase] = useState(draft.kept.base ?? loaded)
  const [typed, setTyped] = useState<Partial<V>>(draft.kept.typed ?? {})
  const saved = valuesOf(loaded)
  const before = valuesOf(base)
  const isTyped = (field: keyof V, than: V) => {
    const value = typed[field]
    return value !== undefined && value.trim() !== than[field]?.trim()
  }
  const dirty = Object.keys(before).some(field => isTyped(field, before))
  const isOutdated = loaded.version !== base.version
  const [was, is] = [toldOf(base), toldOf(loaded)]
  const entered = Object.fromEntries(Object.entries(typed).filter(([field]) => isTyped(field, before))) as Partial<V>
  const { isUnsaved } = useLeaveGuard(dirty, { param, keepsDraft: !Object.keys(entered).some(isSecret) })
  const open = Object.fromEntries(Object.entries(entered).filter(([field]) => !isSecret(field))) as Partial<V>
  const hasOpen = Object.keys(open).length > 0
  useKeptDraft(draft, { entered: hasOpen ? { base, typed: open } : {}, version: '', isUnsaved })
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
