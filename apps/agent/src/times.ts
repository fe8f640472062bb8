/** Times of the managing process, in milliseconds, which tests set to shorter ones. */
export type Times = {
  /** What was counted is taken over so often, and saved each tenth time. */
  collectMs: number
  /** Until a worker that ended is replaced, the first time; longer and longer while none gets to listen. */
  restartMs: number
  /** The files of a certificate are looked at so often. */
  lookMs: number
}

export const defaultTimes: Times = { collectMs: 1000, restartMs: 500, lookMs: 5000 }
