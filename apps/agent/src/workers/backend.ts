import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { Store } from '../state/store.ts'

export type Started = { ok: true; port: number } | { ok: false; host: string; code: string }

/** Where proxying happens: in this process, or in several that share the port. */
export type Backend = {
  /** Takes the state over and listens. */
  start(store: Store): Promise<Started>
  /** Resolves when every process looks the changes up. */
  publish(ops: Op[]): Promise<void>
  /** What was counted since the last call, some rows at a time. Log lines written before have been handed over when it resolves. */
  collect(): Promise<Iterable<TrafficRow[]>>
  /** Open client connections, as of the last `collect`. */
  connections(): number
  reload(): void
  /** How many processes serve, of how many there should be. */
  serving(): { now: number; wanted: number }
  /** Stops listening, cuts every connection, and gives the last counts. */
  close(): Promise<Iterable<TrafficRow[]>>
}
