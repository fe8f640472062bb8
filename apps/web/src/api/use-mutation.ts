import { type UseMutationOptions, useMutation as useAny } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'

const GOING = 'data-going'
/** Marks a confirmation question. Focus returns to what opened it, not to the button pressed in it. */
export const QUESTION = 'data-question'

/**
 * A mutation that runs once at a time: `mutate` does nothing while a call is in flight. `isPending` renders too late to
 * stop a double click; `isOut()` is true from the first call. A pending button is disabled and loses the focus; we give
 * the focus back unless the user has moved it. `data-going` marks the button until it renders as pending (app/styles/global.css).
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
      // The YES button disappears with its question, which itself restores the focus.
      pressed.current = button?.closest(`[${QUESTION}]`) ? null : button
      if (button instanceof HTMLButtonElement) button.setAttribute(GOING, '')
      const settled = () => {
        out.current = false
        button?.removeAttribute(GOING)
      }
      // The mutation's own `onError` reports the failure.
      void mutateAsync(variables).then(settled, settled)
    },
    [mutateAsync]
  )
  const isOut = useCallback(() => out.current, [])
  return { mutate, isPending, isSuccess, error, variables, isOut }
}

/** An idempotency key for each unanswered request, so that the server recognises a repetition. */
export function useIdempotencyKey() {
  const kept = useRef<{ body: string; key: string; since: number } | null>(null)
  return {
    /** Returns the same key while `body` is the same and no answer has arrived. */
    keyFor(body: object): string {
      const text = JSON.stringify(body)
      if (kept.current?.body !== text) kept.current = { body: text, key: randomKey(), since: Date.now() }
      return kept.current.key
    },
    /** When the current key was first sent, in milliseconds. */
    since: () => kept.current?.since ?? Date.now(),
    forgetKey: () => {
      kept.current = null
    }
  }
}

/** `crypto.randomUUID` needs a secure context, but a trial shop may run without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
