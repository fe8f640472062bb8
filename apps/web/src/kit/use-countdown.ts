import { useEffect, useState } from 'react'

/** Whole seconds from `now` until `until` (both milliseconds), never below 0. */
export const secondsLeft = (until: number, now: number) => Math.max(0, Math.ceil((until - now) / 1000))

/** 1800 → '30:00', 3661 → '1:01:01'. */
export function clock(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${two(minutes)}:${two(seconds % 60)}`
}

/** Seconds until an instant (milliseconds), 0 without one. Computed from the clock, so a sleeping tab stays correct. */
export function useSecondsUntil(until: number | null): number {
  const [now, setNow] = useState(Date.now)
  const over = until === null || until <= now
  useEffect(() => {
    setNow(Date.now())
    if (over) return
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [until, over])
  return until === null ? 0 : secondsLeft(until, now)
}
