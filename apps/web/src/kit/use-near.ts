import { useEffect, useRef, useState } from 'react'

/**
 * Whether an element has ever come near the viewport. True if the browser cannot tell.
 * @param margin how far away counts as near, in CSS units
 */
export function useNear<E extends Element>(margin: string) {
  const ref = useRef<E>(null)
  const [near, setNear] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element || near) return
    if (!('IntersectionObserver' in window)) return setNear(true)
    const observer = new IntersectionObserver(entries => entries.some(entry => entry.isIntersecting) && setNear(true), {
      rootMargin: `${margin} 0px`
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [near, margin])
  return [ref, near] as const
}
