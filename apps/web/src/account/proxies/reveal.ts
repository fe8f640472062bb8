import { useCallback, useState } from 'react'

const KEY = 'netlet-passwords-shown'

function stored(): boolean {
  try {
    return sessionStorage.getItem(KEY) === '1'
  } catch {
    return false
  }
}

/** Which passwords can be read on the screen: all of them, as this tab remembers, or single ones until the page is left. */
export function useReveal() {
  const [all, setAll] = useState(stored)
  const [single, setSingle] = useState<ReadonlySet<number>>(new Set())
  /** Turns over what `all` says for one of them. */
  const toggle = useCallback(
    (id: number) =>
      setSingle(before => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    []
  )
  return {
    all,
    showAll: (shown: boolean) => {
      setAll(shown)
      setSingle(new Set())
      try {
        if (shown) sessionStorage.setItem(KEY, '1')
        else sessionStorage.removeItem(KEY)
      } catch {
        // It then holds until the page is left.
      }
    },
    shows: (id: number) => all !== single.has(id),
    toggle
  }
}
export type Reveal = ReturnType<typeof useReveal>
