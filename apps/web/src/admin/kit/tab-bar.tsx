import { Tabs } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { useScrollShade } from './scroll-shade.ts'
import classes from './tab-bar.module.css'

/** Pixels of a neighbour kept visible beside the selected tab. */
const PEEK = 32

/** Tabs in one line, which scrolls if it is too narrow and shades its edges. `value`: the selected tab. */
export function TabBar({ value, children }: { value: string; children: ReactNode }) {
  const bar = useRef<HTMLDivElement>(null)
  const { className: shaded, ...more } = useScrollShade(bar)
  // `scrollIntoView` would move the page as well.
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
