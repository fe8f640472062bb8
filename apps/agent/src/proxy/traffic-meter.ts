/**
 * Bytes as the proxy client sees them (up: from the client), finished and refused requests, client connections that logged
 * in, and how often each code of the access log but `ok` was written (null: never).
 */
export type Counter = {
  up: number
  down: number
  requests: number
  errors: number
  connections: number
  codes: Record<string, number> | null
}
export type TrafficRow = Counter & { user: string; ip: string }

export const noTraffic = (): Counter => ({ up: 0, down: 0, requests: 0, errors: 0, connections: 0, codes: null })

/** Adds one to a code. There are some dozens of codes, all of the agent's own. */
export function countCode(counter: Counter, code: string): void {
  counter.codes ??= {}
  counter.codes[code] = (counter.codes[code] ?? 0) + 1
}

/** Who has what clients did that no user can be told of. No user is named so. */
export const NOBODY = '-'

/** Counts per user and address in one process, until the managing process takes the figures over. */
export class TrafficMeter {
  #counters = new Map<string, Map<string, Counter>>()

  counter(user: string, ip: string): Counter {
    let addresses = this.#counters.get(user)
    if (addresses === undefined) this.#counters.set(user, (addresses = new Map()))
    let counter = addresses.get(ip)
    if (counter === undefined) addresses.set(ip, (counter = noTraffic()))
    return counter
  }

  /** Takes what was counted and starts again from zero; the rows are made as they are asked for. */
  collect(): Iterable<TrafficRow> {
    const counted = this.#counters
    this.#counters = new Map()
    return rowsOf(counted)
  }
}

function* rowsOf(counted: Map<string, Map<string, Counter>>): Generator<TrafficRow> {
  for (const [user, addresses] of counted) for (const [ip, counter] of addresses) yield { user, ip, ...counter }
}

/** Some rows at a time, so that whoever passes them on can let others have their turn. */
export function* piecesOf(rows: Iterable<TrafficRow>, size: number): Generator<TrafficRow[]> {
  let piece: TrafficRow[] = []
  for (const row of rows) {
    piece.push(row)
    if (piece.length < size) continue
    yield piece
    piece = []
  }
  if (piece.length > 0) yield piece
}
