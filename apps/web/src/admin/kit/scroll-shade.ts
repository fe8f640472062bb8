import { useEffect, useState, type RefObject } from 'react'
import classes from './scroll-shade.module.css'

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
