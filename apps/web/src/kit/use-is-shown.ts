import { useCallback, useLayoutEffect, useRef } from 'react'

/**
 * Tells whether what calls it is on the screen, for what may come late: the answer of a call, or a change of the address. From
 * its first picture on until it goes.
 */
export function useIsShown(): () => boolean {
  const shown = useRef(false)
  useLayoutEffect(() => {
    shown.current = true
    return () => {
      shown.current = false
    }
  }, [])
  return useCallback(() => shown.current, [])
}
