/** Bytes as the proxy client sees them (up: from the client), finished and refused requests. */
export type Counter = { up: number; down: number; requests: number; errors: number }
export type TrafficRow = Counter & { user: string; ip: string }

/** Counts per user and address in one process, until the managing process takes the figures over. */
export class TrafficMeter {
  readonly #counters = new Map<string, Map<string, Counter>>()

  counter(user: string, ip: string): Counter {
    let addresses = this.#counters.get(user)
    if (addresses === undefined) this.#counters.set(user, (addresses = new Map()))
    let counter = addresses.get(ip)
    if (counter === undefined) addresses.set(ip, (counter = { up: 0, down: 0, requests: 0, errors: 0 }))
    return counter
  }

  /** Takes what was counted and starts again from zero. Open connections go on with the counters that they hold. */
  collect(): TrafficRow[] {
    const rows: TrafficRow[] = []
    for (const [user, addresses] of this.#counters) {
      for (const [ip, counter] of addresses) {
        if (counter.up + counter.down + counter.requests + counter.errors > 0) rows.push({ user, ip, ...counter })
        else addresses.delete(ip)
        counter.up = counter.down = counter.requests = counter.errors = 0
      }
      if (addresses.size === 0) this.#counters.delete(user)
    }
    return rows
  }
}
