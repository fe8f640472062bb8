import { useEffect, useSyncExternalStore } from 'react'

export type SkipTarget = {
  /** The id of the element that the link leads to. */
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

/** What can be skipped to on the page that is shown. */
export const useSkipTargets = () => useSyncExternalStore(subscribe, () => targets)

/**
 * Offers a link at the page's very beginning that leads the keyboard to the element with this id, while it is shown.
 * Without a label it offers none.
 */
export function useSkipTarget(id: string, label: string | undefined): void {
  useEffect(() => {
    if (label === undefined) return
    const mine = { id, label }
    set([...targets, mine])
    return () => set(targets.filter(target => target !== mine))
  }, [id, label])
}

/** Leads the keyboard to an element: to its rows where it is a table, whose first link then comes next. */
export function skipTo(id: string): void {
  const element = document.getElementById(id)
  const place = element?.querySelector<HTMLElement>(':scope > [data-rows]') ?? element
  if (!place) return
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1
  place.focus({ preventScroll: true })
  element?.scrollIntoView({ block: 'start' })
}
