import { Tabs } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { useSideways } from './sideways.ts'
import classes from './tab-bar.module.css'

/** Pixels of a neighbour that stay in sight beside the chosen tab. */
const PEEK = 32

/**
 * Tabs in one line, which scrolls sideways where it is too narrow: the chosen one is brought into view, and a shade stands
 * where more is. `value`: which one is chosen.
 */
export function TabBar({ value, children }: { value: string; children: ReactNode }) {
  const bar = useRef<HTMLDivElement>(null)
  const { className: shaded, ...more } = useSideways(bar)
  // Not by scrollIntoView, which moves the page as well.
  useEffect(() => {
    const list = bar.current
    const chosen = list?.querySelector<HTMLElement>('[aria-selected="true"]')
    if (!list || !chosen) return
    const [from, to] = [chosen.offsetLeft - PEEK, chosen.offsetLeft + chosen.offsetWidth + PEEK]
    if (from < list.scrollLeft) list.scrollLeft = Math.max(0, from)
    else if (to > list.scrollLeft + list.clientWidth) list.scrollLeft = to - list.clientWidth
  }, [value])
  return (
    <Tabs.List ref={bar} className={`${classes.bar} ${shaded}`} {...more}>
      {children}
    </Tabs.List>
  )
}
