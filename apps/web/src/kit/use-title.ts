import { useEffect } from 'react'
import { useBrand } from './brand.tsx'

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
  const { name } = useBrand()
  useEffect(() => {
    document.title = title ? `${title} · ${name}` : name
    shown = title
    for (const listener of listeners) listener()
  }, [title, name])
}
