import { useCallback, useLayoutEffect, useRef } from 'react'

/** Returns whether the component is still mounted, for late answers and changes of the address. */
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
