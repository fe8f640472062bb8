import { useEffect, useState } from 'react'

/** A value that is being typed, once it has not changed for `ms` milliseconds. */
export function useSettled<V>(value: V, ms = 400): V {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
