import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { onConfirmationNeeded } from '../../api/client.ts'
import { confirm, questions } from '../../kit/confirm.ts'

const ConfirmDialog = lazy(() => import('./confirm-session-dialog.tsx'))

/** Asks the operator to confirm the session when a call needs it. Calls that are refused at the same time share it. */
export function ConfirmSession() {
  const asked = useSyncExternalStore(questions.subscribe, questions.current)
  const [minutes, setMinutes] = useState<number>()
  useEffect(() => {
    let open: Promise<boolean> | undefined
    const close = onConfirmationNeeded(given => {
      setMinutes(given)
      open ??= confirm({ title: '', body: '', session: true }).finally(() => (open = undefined))
      return open
    })
    return () => {
      close()
      if (open) questions.current()?.answer(false)
    }
  }, [])
  if (!asked?.session) return null
  return (
    <Suspense fallback={null}>
      <ConfirmDialog minutes={minutes ?? 0} onAnswer={asked.answer} />
    </Suspense>
  )
}
