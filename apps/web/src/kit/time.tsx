import { useLanguage } from '../i18n/language.ts'
import { useClock } from './clock.ts'
import classes from './time.module.css'

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

/** How far an instant is from now in the largest unit that fits, from seconds to years: 'in 3 days', '2 hours ago'. */
export function relativeTime(at: number, now: number, language: string): string {
  const seconds = Math.round((at - now) / 1000)
  const format = relativeFormatOf(language)
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit)
  return format.format(seconds, 'second')
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** A formatter is dear to make: a list of ten rows says a hundred instants. */
function formatOf(language: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  // A traveller's browser changes its zone, and a formatter without one keeps that of its making.
  const key = JSON.stringify([language, options, new Date().getTimezoneOffset()])
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(language, options)
  formats.set(key, made)
  return made
}

const zones = new Map<number, string>()

/** Where the browser is: 'Europe/Berlin'. */
function ownZone(): string {
  const offset = new Date().getTimezoneOffset()
  const zone = zones.get(offset) ?? formatOf(undefined, {}).resolvedOptions().timeZone
  zones.set(offset, zone)
  return zone
}

/** A zone and how far it is from UTC at an instant: 'Europe/Berlin (GMT+2)', 'UTC'. */
export function zoneText(at: Date, language: string, timeZone = ownZone()): string {
  const parts = formatOf(language, { timeZone, timeZoneName: 'shortOffset' }).formatToParts(at)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value
  return timeZone === 'UTC' || !offset ? timeZone : `${timeZone} (${offset})`
}

/** An instant for a sentence: 'Jun 15, 2026, 10:00:05 AM GMT+2'. */
export const momentText = (at: string | number | Date, language: string, timeZone = ownZone()): string =>
  formatOf(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'shortOffset',
    timeZone
  }).format(new Date(at))

/** The whole of an instant: in the reader's zone, which is named, and in UTC, as logs have it. */
export function fullText(at: string | Date, language: string, timeZone = ownZone()): string {
  const utc = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
  return timeZone === 'UTC' ? utc : `${momentText(at, language, timeZone)} (${timeZone}) = ${utc}`
}

/** An instant to the second, in the reader's zone. @param ago says how far it is from now, too */
export function Moment({ at, ago = false }: { at: string; ago?: boolean }) {
  const language = useLanguage()
  const time = (
    <time dateTime={at} title={fullText(at, language)} className={`num ${classes.moment}`}>
      {formatOf(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at))}
    </time>
  )
  if (!ago) return time
  return (
    <span className={classes.both}>
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
  return (
    <time dateTime={at} title={fullText(time, language)}>
      {relativeTime(time.getTime(), now, language)}
    </time>
  )
}

export function Day({ at }: { at: string }) {
  const language = useLanguage()
  const time = new Date(at)
  return (
    <time dateTime={at} title={fullText(time, language)}>
      {formatOf(language, { year: 'numeric', month: 'short', day: 'numeric' }).format(time)}
    </time>
  )
}
