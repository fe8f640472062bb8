/** The present time, as a parameter so that tests control it. */
export type Clock = () => Date
export const systemClock: Clock = () => new Date()

export const iso = (at: Date): string => at.toISOString()
export const isoOrNull = (at: Date | null): string | null => (at ? at.toISOString() : null)

export const SECOND = 1000
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
