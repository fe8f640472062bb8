/**
 * Bytes as the client sees them (up: from the client), finished and refused requests, connections that logged in, and
 * counts of log notes other than `ok` (null: none).
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

/** Adds one to a code. The agent defines all codes, a few dozen. */
export function countCode(counter: Counter, code: string): void {
  counter.codes ??= {}
  counter.codes[code] = (counter.codes[code] ?? 0) + 1
}

/** Stands for clients whose user is unknown. No user has this name. */
export const NOBODY = '-'

/** Counts by user and address in one process, until the managing process collects. */
export class TrafficMeter {
  #counters = new Map<string, Map<string, Counter>>()

  counter(user: string, ip: string): Counter {
    let addresses = this.#counters.get(user)
    if (addresses === undefined) this.#counters.set(user, (addresses = new Map()))
    let counter = addresses.get(ip)
    if (counter === undefined) addresses.set(ip, (counter = noTraffic()))
    return counter
  }

  /** Takes all counters and starts from zero. Rows are generated lazily. */
  collect(): Iterable<TrafficRow> {
    const counted = this.#counters
    this.#counters = new Map()
    return rowsOf(counted)
  }
}

function* rowsOf(counted: Map<string, Map<string, Counter>>): Generator<TrafficRow> {
  for (const [user, addresses] of counted) for (const [ip, counter] of addresses) yield { user, ip, ...counter }
}

/** Splits rows into pieces, so that the caller can pause between them. */
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
