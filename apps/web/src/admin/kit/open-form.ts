import { useEffect, useRef, useState } from 'react'
import { useFocusReturn } from '../../kit/focus-return.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { useQuestionOpen } from '../../kit/dialog.tsx'

/** The row id in a form's name (`edit.12`). */
const rowOf = (form = ''): number | null => Number(form.split('.')[1]) || null

type Options = {
  onClose: () => void
  /** The draft restores everything entered after an expired session. */
  keepsDraft?: boolean
}

/**
 * The form that the address opens (`form`), for a drawer or dialog. It stays rendered while it fades out, and asks
 * before changes are discarded. `id` identifies an open form.
 */
export function useOpenForm<F extends { id: string }>(task: F | null, { onClose, keepsDraft = false }: Options) {
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
