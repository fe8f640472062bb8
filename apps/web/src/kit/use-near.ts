import { useEffect, useRef, useState } from 'react'

/**
 * Whether an element has come near what is shown, once and for good. Where the browser cannot tell, it is near.
 * @param margin how far below or above counts as near, as in CSS
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
