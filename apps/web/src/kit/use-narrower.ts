import { useLayoutEffect, useState, type RefObject } from 'react'

/** Whether an element is narrower than `rem`, updated on resize. False without `rem` or a layout. */
export function useNarrower(ref: RefObject<HTMLElement | null>, rem: number | undefined): boolean {
  const [isNarrower, setNarrower] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element || rem === undefined) return
    const look = () => {
      const { width } = element.getBoundingClientRect()
      const unit = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
      setNarrower(width > 0 && width < rem * unit)
    }
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref, rem])
  return isNarrower
}
