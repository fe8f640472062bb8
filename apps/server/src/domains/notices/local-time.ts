import type { NoticeRules } from '@netlet/contract'
import { MINUTE } from '../../infra/clock.ts'

const DAY_MINUTES = 1440

type Local = { day: string; hour: number; minutes: number }

/** The local time in a time zone: '2026-11-21', the hour, and minutes since midnight. */
export function localTime(at: Date, timeZone: string): Local {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23'
  })
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const hour = Number(part['hour'])
  return { day: `${part['year']}-${part['month']}-${part['day']}`, hour, minutes: hour * 60 + Number(part['minute']) }
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

type Quiet = Pick<NoticeRules, 'time_zone' | 'quiet_hours' | 'quiet_from' | 'quiet_until'>

/**
 * When a notice that is not critical may be sent: now, or at the end of the quiet hours. The end follows the local
 * clock, also across a clock change; an end in the skipped hour moves to the next valid time.
 */
export function afterQuiet(at: Date, rules: Quiet): Date {
  const [from, until] = [minutesOf(rules.quiet_from), minutesOf(rules.quiet_until)]
  if (!rules.quiet_hours || from === until) return at
  const { minutes } = localTime(at, rules.time_zone)
  const isQuiet = from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until
  if (!isQuiet) return at
  const wait = (until - minutes + DAY_MINUTES) % DAY_MINUTES
  const start = Math.floor(at.getTime() / MINUTE) * MINUTE
  const end = new Date(start + wait * MINUTE)
  const off = (until - localTime(end, rules.time_zone).minutes + 2.5 * DAY_MINUTES) % DAY_MINUTES
  return new Date(end.getTime() + (off - DAY_MINUTES / 2) * MINUTE)
}
