import { lazy, Suspense, useRef, useSyncExternalStore } from 'react'
import './focus-return.ts'
import { questions } from './confirm.ts'
import { toaster } from './notify.ts'

const Toaster = lazy(() => import('./toaster.tsx'))
const ConfirmDialog = lazy(() => import('./confirm-dialog.tsx'))

/** Where messages and questions appear; their parts are loaded when the first of them comes. */
export function Hosts() {
  const toasts = useSyncExternalStore(toaster.subscribe, toaster.needed)
  const asked = useSyncExternalStore(questions.subscribe, questions.current)
  // The dialog stays once it was there, so that it can fade out.
  const everAsked = useRef(false)
  if (asked) everAsked.current = true
  return (
    <Suspense fallback={null}>
      {toasts && <Toaster />}
      {everAsked.current && <ConfirmDialog asked={asked} />}
    </Suspense>
  )
}
