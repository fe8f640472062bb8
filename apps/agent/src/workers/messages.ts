import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { PlaneConfig } from './local.ts'

/** From the managing process to a worker. Messages arrive in the order in which they were sent. */
export type ToWorker =
  | { type: 'start'; config: PlaneConfig }
  /** After the state: whoever connects finds it known. */
  | { type: 'listen' }
  | { type: 'ops'; id: number; ops: Op[] }
  /** Entries of a deny set (by its hash) or of the blacklist, before the op that brings it. */
  | { type: 'entries'; id: number; list: string; entries: string[] }
  | { type: 'collect'; id: number }
  /** Cut everything and collect for the last time. */
  | { type: 'stop'; id: number }
  | { type: 'reload' }

/** From a worker. `collected` comes after all log lines written before it. */
export type FromWorker =
  | { type: 'listening'; port: number }
  | { type: 'failed'; host: string; code: string }
  | { type: 'applied'; id: number }
  /** Counts, before the `collected` that they belong to. */
  | { type: 'rows'; rows: TrafficRow[] }
  | { type: 'collected'; id: number; connections: number }
  /** Finished lines of the access log, joined: one text costs far less to send than many. */
  | { type: 'log'; text: string; lines: number }
