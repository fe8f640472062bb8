import { useEffect } from 'react'

let shown = ''
const listeners = new Set<() => void>()

/** The title of the page that is shown, without the shop's name. */
export const shownTitle = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  current: () => shown
}

/** The document's title while this page is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Netlet` : 'Netlet'
    shown = title
    for (const listener of listeners) listener()
  }, [title])
}
