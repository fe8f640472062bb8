/** How long a 429 asks to stay away, in milliseconds; a second where it does not say. */
export function retryAfterMs(header: string | null): number {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : 1000
}
