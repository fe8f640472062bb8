import { useCallback, useEffect, useRef } from 'react'

/** Tells whether what calls it is still on the screen, for the answer of a call that may have been out for long. */
export function useIsShown(): () => boolean {
  const shown = useRef(true)
  useEffect(() => {
    shown.current = true
    return () => {
      shown.current = false
    }
  }, [])
  return useCallback(() => shown.current, [])
}
