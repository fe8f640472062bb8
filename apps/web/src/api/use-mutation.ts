import { useMutation as useAny, type UseMutationOptions } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'

const GOING = 'data-going'
/** Marks a question of YES and NO: what it asks about has its focus back, not what was pressed in it. */
export const QUESTION = 'data-question'

/**
 * A mutation that is made once at a time: until its answer is there, `mutate` does nothing. What is rendered of it comes
 * too late to keep a double click from making two calls. `isOut()` is true from the first call on. A button that waits is
 * disabled, and so loses the focus: it has it back with the answer, unless somebody has gone on meanwhile. Until it is drawn as
 * one that waits, which takes a slow machine a while, `data-going` says that it was pressed (global.css).
 */
export function useMutation<D, V = void>(options: UseMutationOptions<D, Error, V>) {
  const { mutateAsync, isPending, isSuccess, error, variables } = useAny<D, Error, V>(options)
  const out = useRef(false)
  const pressed = useRef<Element>(null)
  useEffect(() => {
    const button = pressed.current
    button?.removeAttribute(GOING)
    if (isPending || !button) return
    pressed.current = null
    const active = document.activeElement
    if (button instanceof HTMLElement && button.isConnected && (!active || active === document.body))
      button.focus({ preventScroll: true })
  }, [isPending])
  const mutate = useCallback(
    (variables: V) => {
      if (out.current) return
      out.current = true
      const button = document.activeElement
      // YES goes with its question: the focus is given back to what opened that.
      pressed.current = button?.closest(`[${QUESTION}]`) ? null : button
      if (button instanceof HTMLButtonElement) button.setAttribute(GOING, '')
      const settled = () => {
        out.current = false
        button?.removeAttribute(GOING)
      }
      // A failure is told by the mutation's own `onError`.
      void mutateAsync(variables).then(settled, settled)
    },
    [mutateAsync]
  )
  const isOut = useCallback(() => out.current, [])
  return { mutate, isPending, isSuccess, error, variables, isOut }
}
