import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { PlaneConfig } from './local.ts'

/** From the managing process to a worker. Messages arrive in the order in which they were sent. */
export type ToWorker =
  | { type: 'start'; config: PlaneConfig }
  | { type: 'ops'; id: number; ops: Op[] }
  | { type: 'collect'; id: number }
  /** Cut everything and collect for the last time. */
  | { type: 'stop'; id: number }
  | { type: 'reload' }

/** From a worker. `collected` comes after all log lines written before it. */
export type FromWorker =
  | { type: 'listening'; port: number }
  | { type: 'failed'; host: string; code: string }
  | { type: 'applied'; id: number }
  | { type: 'collected'; id: number; rows: TrafficRow[] }
  /** Finished lines of the access log, joined: one text costs far less to send than many. */
  | { type: 'log'; text: string; lines: number }
