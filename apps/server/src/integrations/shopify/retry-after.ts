/** The wait that a 429 requests, in milliseconds; a second by default. */
export function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : 1000
}

/** Timeouts, conflicts, and the platform's rejections by client address (430), which also hit honest clients. */
export const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 430])
