import { useEffect, useSyncExternalStore } from 'react'

export type SkipTarget = {
  id: string
  label: string
}

let targets: readonly SkipTarget[] = []
const listeners = new Set<() => void>()
const set = (next: readonly SkipTarget[]) => {
  targets = next
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The skip links of the current page. */
export const useSkipTargets = () => useSyncExternalStore(subscribe, () => targets)

/** Adds a skip link to the element with this id while it is rendered. Without a label it adds none. */
export function useSkipTarget(id: string, label: string | undefined): void {
  useEffect(() => {
    if (label === undefined) return
    const mine = { id, label }
    set([...targets, mine])
    return () => set(targets.filter(target => target !== mine))
  }, [id, label])
}

/** Moves the keyboard focus to an element; for a table, to its rows, whose first link is next. */
export function skipTo(id: string): void {
  const element = document.getElementById(id)
  const place = element?.querySelector<HTMLElement>(':scope > [data-rows]') ?? element
  if (!place) return
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1
  place.focus({ preventScroll: true })
  element?.scrollIntoView({ block: 'start' })
}
