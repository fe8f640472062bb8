import { useCallback, useState } from 'react'

const KEY = 'netlet-passwords-shown'

function stored(): boolean {
  try {
    return sessionStorage.getItem(KEY) === '1'
  } catch {
    return false
  }
}

/** Which passwords are visible: all, as this tab remembers, or single ones until the page closes. */
export function useReveal() {
  const [all, setAll] = useState(stored)
  const [single, setSingle] = useState<ReadonlySet<number>>(new Set())
  /** Proxies whose visibility is the opposite of `all`. */
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
        // Without storage it lasts until the page closes.
      }
    },
    shows: (id: number) => all !== single.has(id),
    toggle
  }
}
export type Reveal = ReturnType<typeof useReveal>
