import { useEffect, useState } from 'react'
import { useLanguage } from '../i18n/language.ts'

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

/** How far an instant is from now in the largest unit that fits, from seconds to years: 'in 3 days', '2 hours ago'. */
export function relativeTime(at: number, now: number, language: string): string {
  const seconds = Math.round((at - now) / 1000)
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit)
  return format.format(seconds, 'second')
}

export function Ago({ at }: { at: string }) {
  const language = useLanguage()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    // What has just happened lies after the last look at the clock.
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [at])
  const time = new Date(at)
  return (
    <time dateTime={at} title={time.toLocaleString(language)}>
      {relativeTime(time.getTime(), now, language)}
    </time>
  )
}

export function Day({ at }: { at: string }) {
  const language = useLanguage()
  const time = new Date(at)
  return (
    <time dateTime={at} title={time.toLocaleString(language)}>
      {time.toLocaleDateString(language, { year: 'numeric', month: 'short', day: 'numeric' })}
    </time>
  )
}
