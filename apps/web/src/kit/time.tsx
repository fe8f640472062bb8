import { useLanguage } from '../i18n/language.ts'
import classes from './time.module.css'
import { useSyncExternalStore } from 'react'

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

const relativeFormats = new Map<string, Intl.RelativeTimeFormat>()

function relativeFormatOf(language: string): Intl.RelativeTimeFormat {
  const made = relativeFormats.get(language) ?? new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  relativeFormats.set(language, made)
  return made
}

/** Midnights between two instants in the user's zone. 45 hours ahead is usually the day after tomorrow. */
function daysBetween(from: number, to: number): number {
  const dayOf = (instant: number) => {
    const date = new Date(instant)
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
  }
  return Math.round((dayOf(to) - dayOf(from)) / 86_400_000)
}

/** The distance of an instant from now in the largest unit that fits: 'in 3 days', '2 hours ago'. */
export function relativeTime(at: number, now: number, language: string): string {
  const seconds = Math.round((at - now) / 1000)
  const format = relativeFormatOf(language)
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length)
      return format.format(unit === 'day' ? daysBetween(now, at) : Math.trunc(seconds / length), unit)
  return format.format(seconds, 'second')
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Formatters are slow to create, and a list of ten rows writes a hundred instants. */
function formatOf(language: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  // The offset is part of the key: a formatter keeps the zone it was created in, but a traveller's zone changes.
  const key = JSON.stringify([language, options, new Date().getTimezoneOffset()])
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(language, options)
  formats.set(key, made)
  return made
}

const zones = new Map<number, string>()

/** The user's zone: 'Europe/Berlin'. */
function ownZone(): string {
  const offset = new Date().getTimezoneOffset()
  const zone = zones.get(offset) ?? formatOf(undefined, {}).resolvedOptions().timeZone
  zones.set(offset, zone)
  return zone
}

/** A zone with its UTC offset at an instant: 'Europe/Berlin (GMT+2)', 'UTC'. */
export function zoneText(at: Date, language: string, timeZone = ownZone()): string {
  const offset = offsetOf(at, language, timeZone)
  return timeZone === 'UTC' || !offset ? timeZone : `${timeZone} (${offset})`
}

/** An instant for a sentence: 'Jun 15, 2026, 10:00:05 AM GMT+2'. */
export function momentText(at: string | number | Date, language: string, timeZone = ownZone()): string {
  const date = new Date(at)
  const time = formatOf(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZone
  }).format(date)
  // After the time in every language; Chinese would put it first.
  return `${time} ${offsetOf(date, language, timeZone)}`
}

/** The time of day of an instant: '2:32 PM'. */
export const timeOfDay = (at: number, language: string): string =>
  formatOf(language, { hour: 'numeric', minute: '2-digit' }).format(at)

function offsetOf(at: Date, language: string, timeZone: string): string {
  const parts = formatOf(language, { timeZone, timeZoneName: 'shortOffset' }).formatToParts(at)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  // Browsers call UTC 'GMT+0' or 'GMT'.
  return /^GMT(\+0)?$/.test(offset) ? 'UTC' : offset
}

/** An instant in the user's zone, which is named, and in UTC as in logs. */
export function fullText(at: string | Date, language: string, timeZone = ownZone()): string {
  const utc = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  return timeZone === 'UTC' ? utc : `${momentText(at, language, timeZone)} (${timeZone}) = ${utc}`
}

/** An instant that may wrap only between day and time. */
function unbroken(at: Date, language: string): string {
  const whole = formatOf(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(at)
  const time = formatOf(language, { timeStyle: 'medium' }).format(at)
  const day = whole.endsWith(time) ? whole.slice(0, -time.length).trimEnd() : ''
  const together = (text: string) => text.replaceAll(/\s/g, '\u00a0')
  return day ? `${together(day)} ${together(time)}` : whole
}

/** An instant to the second, in the user's zone. @param ago also says how far it is from now */
export function Moment({ at, ago = false }: { at: string; ago?: boolean }) {
  const language = useLanguage()
  const time = (
    <time dateTime={at} title={fullText(at, language)} className={`num ${classes.moment}`}>
      {unbroken(new Date(at), language)}
    </time>
  )
  if (!ago) return time
  return (
    <span className={`row stretch inline ${classes.both}`} style={{ gap: '0 0.6rem' }}>
      {time}
      <span className="dim">
        <Ago at={at} />
      </span>
    </span>
  )
}

export function Ago({ at }: { at: string }) {
  const language = useLanguage()
  const now = useClock()
  const time = new Date(at)
  // An event after the last tick would appear to be in the future.
  const ahead = time.getTime() - now
  return (
    <time dateTime={at} title={fullText(time, language)}>
      {relativeTime(time.getTime(), ahead > 0 && ahead <= TICK ? time.getTime() : now, language)}
    </time>
  )
}

/** @param children replaces the day with a text that contains it */
export function Day({ at, children = day => day }: { at: string; children?: (day: string) => string }) {
  const language = useLanguage()
  const day = formatOf(language, { year: 'numeric', month: 'short', day: 'numeric' }).format(new Date(at))
  return (
    <time dateTime={at} title={fullText(at, language)}>
      {children(day)}
    </time>
  )
}

/** Milliseconds between two ticks. */
const TICK = 10_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK)
  // The clock may be older than an event that just happened, so update it now.
  if (Date.now() - now >= 1000) tick()
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time of the last tick, shared by everything that shows how long ago something was. */
export const useClock = (): number => useSyncExternalStore(subscribe, () => now)
