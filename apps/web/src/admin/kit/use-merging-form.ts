import { useEffect, useRef, useState } from 'react'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { type LeaveOptions, useLeaveGuard } from '../../kit/leave-guard.ts'
import { merge, type Path, withValue } from '../../kit/merge.ts'
import { useFocusReturn } from '../../kit/focus-return.ts'
import { useQuestionOpen } from '../../kit/dialog.tsx'

type Options<D, V> = {
  /** The draft's name. */
  name: string
  /** The parameter of the address that opens the form. */
  param: LeaveOptions['param']
  valuesOf: (data: D) => V
  /** The saved values for comparison, if the form does not show them as they are. */
  toldOf?: (data: D) => V
  /** Whether a value must not be kept in a draft. */
  isSecret?: (name: string) => boolean
}

/**
 * A form whose saved values may change while the user types. Untouched fields follow the newest answer. If both changed
 * a field, the user must decide: until then a save has the older version and is refused. Surrounding spaces are no
 * change. The draft keeps what was typed and what it was typed over, so that it can be merged later.
 */
export function useMergingForm<D extends { version: string }, V extends Record<string, string>>(
  loaded: D,
  { name, param, valuesOf, toldOf = valuesOf, isSecret = () => false }: Options<D, V>
) {
  const draft = useDraft<{ base: D; typed: Partial<V> }>(name, { base: loaded, typed: {} })
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
  useKeptDraft(draft, { entered: hasOpen ? { base, typed: open } : {}, isUnsaved })
  const { taken, clashes } = merge(was, { ...was, ...entered }, is)
  const take = (data: D) => {
    setBase(data)
    setTyped({})
  }
  /** Continues from what is loaded, with what is typed. */
  const goOn = () => {
    setBase(loaded)
    setTyped(entered)
  }
  if (isOutdated && !dirty) take(loaded)
  else if (isOutdated && clashes.length === 0) goOn()
  return {
    /** A save sends this answer's version. */
    base,
    values: { ...saved, ...(isOutdated ? entered : typed) },
    dirty,
    change: (part: Partial<V>) => setTyped(now => ({ ...now, ...part })),
    /** Shows this answer and discards what is typed. */
    take,
    /** What another user has saved since; undefined unless it conflicts with what is typed. */
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

/** The row id in a form's name (`edit.12`). */
const rowOf = (form = ''): number | null => Number(form.split('.')[1]) || null

type OpenFormOptions = {
  onClose: () => void
  /** The draft restores everything entered after an expired session. */
  keepsDraft?: boolean
}

/**
 * The form that the address opens (`form`), for a drawer or dialog. It stays rendered while it fades out, and asks
 * before changes are discarded. `id` identifies an open form.
 */
export function useOpenForm<F extends { id: string }>(
  task: F | null,
  { onClose, keepsDraft = false }: OpenFormOptions
) {
  // `opening` counts, because the same form can open twice.
  const [shown, setShown] = useState({ form: task, opening: 0 })
  const asking = useQuestionOpen()
  const guard = useLeaveGuard(false, { param: { name: 'form', value: task?.id ?? null }, keepsDraft })
  const last = useRef(shown.form)
  if (shown.form) last.current = shown.form
  const latest = useRef(shown.opening)
  useEffect(() => {
    if (task?.id === shown.form?.id) return
    latest.current += 1
    guard.mark(false)
    setShown({ form: task, opening: latest.current })
    // oxlint-disable-next-line react/exhaustive-deps -- only a change of the address counts
  }, [task?.id])

  useFocusReturn(Boolean(task), rowOf(task?.id))

  const { opening } = shown
  const isOpen = () => latest.current === opening
  return {
    /** The form to render, also while it fades out; null before the first one. */
    content: shown.form ?? last.current,
    opened: Boolean(task),
    /** A question is open and handles Escape. */
    asking,
    /** A stable function, so that effects of the form run only when the form changes. */
    mark: guard.mark,
    /** Whether it has changes that were not discarded. */
    isUnsaved: guard.isUnsaved,
    leave: () => void guard.mayLeave().then(yes => yes && onClose()),
    /** Whether this render's form is still the open one. For use after a call. */
    isOpen,
    /** Closes this render's form, but not one that was opened since. */
    saved: () => {
      if (!isOpen()) return
      guard.release()
      onClose()
    }
  }
}
