import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'

/** Pauses after failed tries: 10 s, 30 s, 90 s and so on, at most a day. So 12 tries take about 3 days. */
const FIRST_MS = 10_000
const FACTOR = 3
/** The share by which a pause varies, so that simultaneous failures do not return simultaneously. */
const JITTER = 0.2

/** The longest pause of a failed endpoint while other events wait for it. */
const LONGEST_REST = 30 * MINUTE

/** @param random from 0 to 1 @returns milliseconds until a delivery's next try, after so many failed ones */
export const pauseAfter = (tries: number, random: number): number =>
  Math.round(Math.min(DAY, FIRST_MS * FACTOR ** (tries - 1)) * jitter(random))

/** @returns milliseconds of an endpoint's pause after so many failures in a row */
export const restAfter = (failures: number, random: number): number =>
  Math.round(Math.min(LONGEST_REST, FIRST_MS * 2 ** Math.min(failures - 1, 20)) * jitter(random))

const jitter = (random: number): number => 1 - JITTER + 2 * JITTER * random

/** The longest accepted `Retry-After`. */
const LONGEST_WISH = 12 * HOUR

/** A receiver's `Retry-After`: seconds, or an instant. @returns milliseconds from now; 0 if missing or unreadable */
export function wishedPause(header: string | undefined, now: Date): number {
  if (header === undefined) return 0
  const wished = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return Number.isFinite(wished) ? Math.min(LONGEST_WISH, Math.max(0, wished)) : 0
}
