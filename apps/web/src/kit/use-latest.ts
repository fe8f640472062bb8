import { useLayoutEffect, useRef } from 'react'

/** The latest value, for code that continues after a call during which the user may have typed. */
export function useLatest<V>(value: V): { readonly current: V } {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
