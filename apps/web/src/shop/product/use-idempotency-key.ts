import { useRef } from 'react'

/** One key for each request that has not been answered: repeated, it is told from another one. */
export function useIdempotencyKey() {
  const kept = useRef<{ body: string; key: string; since: number } | null>(null)
  return {
    /** The same key as before, while `body` is the same and no answer has come. */
    keyFor(body: object): string {
      const text = JSON.stringify(body)
      if (kept.current?.body !== text) kept.current = { body: text, key: randomKey(), since: Date.now() }
      return kept.current.key
    },
    /** When the present key was first sent, in milliseconds. */
    since: () => kept.current?.since ?? Date.now(),
    forgetKey: () => {
      kept.current = null
    }
  }
}

/** `crypto.randomUUID` exists on secure pages only, and a shop may be tried without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
