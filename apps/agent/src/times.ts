/** Intervals of the managing process, in milliseconds. Tests shorten them. */
export type Times = {
  /** How often counters are collected. Each tenth time they are saved. */
  collectMs: number
  /** Delay before an ended worker is replaced. It doubles while none starts to listen. */
  restartMs: number
  /** Polling interval for certificate files. */
  lookMs: number
}

export const defaultTimes: Times = { collectMs: 1000, restartMs: 500, lookMs: 5000 }
