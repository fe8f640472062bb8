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
  // Without its part, which could not be loaded, the browser's own question has to do.
  (dialog ?? loadCode(loadDialog)).catch(() => ({ default: PlainQuestion }))
)

/** Has what draws messages and questions loaded before there are any: without a connection it would be too late. */
export function preloadHosts(): void {
  preloadToasts()
  void loadCode(() => (dialog = loadDialog())).catch(() => undefined)
}

function PlainQuestion({ asked }: { asked: Asked }) {
  useEffect(() => {
    if (!asked) return
    const { title, body, blocked, typed } = asked
    // A question that asks for more than YES can be answered with NO alone.
    const simple = !blocked && typed === undefined
    asked.answer(window.confirm(`${title}\n\n${body}`) && simple)
  }, [asked])
  return null
}

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
