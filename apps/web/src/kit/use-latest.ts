import { useLayoutEffect, useRef } from 'react'

/** A value as it is by now, for what goes on after a call that was out: somebody may have typed meanwhile. */
export function useLatest<V>(value: V): { readonly current: V } {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
