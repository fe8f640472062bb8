/** Refusals by reason since the start of the day (UTC), from counters that rise while the agent runs. */
export class RefusalsOfDay {
  readonly #now: () => number
  #day = ''
  #since: string
  #before: Record<string, number> = {}

  constructor(now: () => number) {
    this.#now = now
    this.#since = new Date(now()).toISOString()
    this.#day = this.#since.slice(0, 10)
  }

  /** Must be called regularly, so that each day starts at its own counters. */
  read(outcomes: Record<string, number>): { refusals: Record<string, number>; refusals_since: string } {
    const day = new Date(this.#now()).toISOString().slice(0, 10)
    if (day !== this.#day) {
      this.#day = day
      this.#since = `${day}T00:00:00.000Z`
      this.#before = { ...outcomes }
    }
    const refusals = Object.entries(outcomes)
      .map(([note, count]) => [note, Math.max(0, count - (this.#before[note] ?? 0))] as const)
      .filter(([note, count]) => note !== 'ok' && count > 0)
    return { refusals: Object.fromEntries(refusals), refusals_since: this.#since }
  }
}
