import { useEffect } from 'react'

let shown = ''
const listeners = new Set<() => void>()

/** The current page's title, without the shop's name. */
export const shownTitle = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => shown
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Netlet` : 'Netlet'
    shown = title
    for (const listener of listeners) listener()
  }, [title])
}
