import { useRef } from 'react'

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
