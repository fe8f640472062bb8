import { lazy, Suspense, useEffect, useRef, useSyncExternalStore, type ComponentType } from 'react'
import './focus-return.ts'
import { questions } from './confirm.ts'
import { loadCode } from './load-code.ts'
import { preloadToasts, toaster } from './notify.ts'

type Asked = ReturnType<typeof questions.current>

const Toaster = lazy(() => import('./toaster.tsx'))
const loadDialog = () => import('./confirm-dialog.tsx')
let dialog: ReturnType<typeof loadDialog> | undefined
const ConfirmDialog = lazy<ComponentType<{ asked: Asked }>>(() =>
  // If the dialog's code does not load, use the browser's own question.
  (dialog ?? loadCode(loadDialog)).catch(() => ({ default: PlainQuestion }))
)

/** Loads the code of messages and questions in advance, because it cannot be loaded offline. */
export function preloadOverlays(): void {
  preloadToasts()
  void loadCode(() => (dialog = loadDialog())).catch(() => undefined)
}

function PlainQuestion({ asked }: { asked: Asked }) {
  useEffect(() => {
    if (!asked) return
    const { title, body, blocked, typed } = asked
    // The browser's question cannot ask for a number, so such questions count as NO.
    const simple = !blocked && typed === undefined
    asked.answer(window.confirm(`${title}\n\n${body}`) && simple)
  }, [asked])
  return null
}

/** Shows messages and questions. Their code loads with the first of them. */
export function Overlays() {
  const toasts = useSyncExternalStore(toaster.subscribe, toaster.needed)
  const question = useSyncExternalStore(questions.subscribe, questions.current)
  const asked = question?.session ? null : question
  // Keep the dialog rendered after its first use, so that it can fade out.
  const everAsked = useRef(false)
  if (asked) everAsked.current = true
  return (
    <Suspense fallback={null}>
      {toasts && <Toaster />}
      {everAsked.current && <ConfirmDialog asked={asked} />}
    </Suspense>
  )
}
