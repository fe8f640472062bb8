import { Tabs } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
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

/** Shades the edges of a horizontally scrolling element where more follows. @returns its attributes */
export function useScrollShade(element: RefObject<HTMLElement | null>) {
  const [more, setMore] = useState({ before: false, after: false })
  useEffect(() => {
    const scrolls = element.current
    if (!scrolls) return undefined
    const look = () => {
      const left = scrolls.scrollWidth - scrolls.clientWidth - scrolls.scrollLeft
      const now = { before: scrolls.scrollLeft > 1, after: left > 1 }
      setMore(known => (known.before === now.before && known.after === now.after ? known : now))
    }
    look()
    scrolls.addEventListener('scroll', look, { passive: true })
    const watch = new ResizeObserver(look)
    watch.observe(scrolls)
    return () => {
      scrolls.removeEventListener('scroll', look)
      watch.disconnect()
    }
  }, [element])
  return { className: classes.shaded, 'data-before': more.before || undefined, 'data-after': more.after || undefined }
}
