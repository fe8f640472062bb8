/** The wait that a 429 requests, in milliseconds; a second by default. */
export function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : 1000
}
