import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'

/** Pauses after failed tries: 10 s, 30 s, 90 s and so on, at most a day; so 12 tries in about 3 days. */
const FIRST_MS = 10_000
const FACTOR = 3
/** The share by which a pause is shortened or prolonged: what failed together must not come back together. */
const JITTER = 0.2

/** How long an endpoint rests that failed, while other events wait for it. */
const LONGEST_REST = 30 * MINUTE

/** @param random from 0 to 1 @returns milliseconds until the next try of a delivery, after so many failed ones */
export const pauseAfter = (tries: number, random: number): number =>
  Math.round(Math.min(DAY, FIRST_MS * FACTOR ** (tries - 1)) * jitter(random))

/** @returns milliseconds for which an endpoint rests after so many failures in a row */
export const restAfter = (failures: number, random: number): number =>
  Math.round(Math.min(LONGEST_REST, FIRST_MS * 2 ** Math.min(failures - 1, 20)) * jitter(random))

const jitter = (random: number): number => 1 - JITTER + 2 * JITTER * random

/** The longest that a receiver's `Retry-After` is heeded. */
const LONGEST_WISH = 12 * HOUR

/**
 * What a receiver asks for by `Retry-After`: seconds, or an instant.
 * @returns milliseconds from now; 0 where it asks for nothing that can be read
 */
export function wishedPause(header: string | undefined, now: Date): number {
  if (header === undefined) return 0
  const wished = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now.getTime()
  return Number.isFinite(wished) ? Math.min(LONGEST_WISH, Math.max(0, wished)) : 0
}
