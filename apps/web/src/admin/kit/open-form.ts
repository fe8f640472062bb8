import { useEffect, useRef, useState } from 'react'
import { useFocusReturn } from '../../kit/focus-return.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { useQuestionOpen } from '../../kit/use-question-open.ts'

/** The row that a form's name (`edit.12`) is about. */
const rowOf = (form = ''): number | null => Number(form.split('.')[1]) || null

type Options = {
  onClose: () => void
  /** All that is entered is there again after a session that ended. */
  keepsDraft?: boolean
}

/**
 * The form that the address asks for (`form`), as a drawer or a dialog shows it: it stays while it fades out, and is not
 * left with changes in it before that was asked. `id` names a form while it is open: a change of it is another form.
 */
export function useOpenForm<F extends { id: string }>(task: F | null, { onClose, keepsDraft = false }: Options) {
  // Stays as it was while it fades out. `opening` counts: the same form may be opened again.
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
    // oxlint-disable-next-line react/exhaustive-deps -- only a change of the address is what counts
  }, [task?.id])

  useFocusReturn(Boolean(task), rowOf(task?.id))

  const { opening } = shown
  const isOpen = () => latest.current === opening
  return {
    /** What is shown, also while it fades out; null: nothing was open yet. */
    content: shown.form ?? last.current,
    opened: Boolean(task),
    /** A question is open: Escape answers that. */
    asking,
    /** Always the same function: only a change of the form itself may mark it, not one of what is around it. */
    mark: guard.mark,
    /** Whether it has changes that nobody has given up. */
    isUnsaved: guard.isUnsaved,
    leave: () => void guard.mayLeave().then(yes => yes && onClose()),
    /** Whether the form of this rendering is the one that is open now: a call may have been out for long. */
    isOpen,
    /** Closes the form of this rendering; one that was opened after it stays. */
    saved: () => {
      if (!isOpen()) return
      guard.release()
      onClose()
    }
  }
}
