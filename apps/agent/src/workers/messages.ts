import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Pem } from '../certificate.ts'
import type { Elsewhere, Shares } from '../proxy/connection-limits.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/definitions.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { ProcessFigures } from './process-figures.ts'
import type { PlaneConfig } from './local.ts'

/** From the managing process to a worker. Messages arrive in order. */
export type ToWorker =
  | { type: 'start'; config: PlaneConfig }
  /** After the state, so that all users are known to the first connection. */
  | { type: 'listen' }
  /** Comes with an open socket, before `listen`. */
  | { type: 'listener'; host: string; port: number }
  /** Send the listening sockets. */
  | { type: 'lend'; id: number }
  /** Accept no new connections. */
  | { type: 'drain'; id: number }
  | { type: 'ops'; id: number; ops: Op[] }
  /** Entries of a deny set (by hash) or of the blacklist, before the op that completes it. */
  | { type: 'entries'; id: number; list: string; entries: string[] }
  | { type: 'collect'; id: number }
  /** Cut all connections and collect for the last time. */
  | { type: 'stop'; id: number; note: AgentCode | null }
  /** Open connections of a user, or with null a list by user. */
  | { type: 'look'; id: number; user: string | null; limit: number }
  /** End the user's connections, or one of them. */
  | { type: 'end'; id: number; user: string; connection: string | null }
  | { type: 'certificate'; pem: Pem | null }
  /** Users with no quota left; see `Plane.setSpent`. */
  | { type: 'spent'; users: string[] }
  /** Changed counts of other processes. `isTogether`: whether another generation has connections. */
  | { type: 'elsewhere'; open: Elsewhere[]; isTogether: boolean }
  /** Other processes' complete use of the speeds that this worker uses. */
  | { type: 'speeds'; speeds: Shares['speeds'] }
  | { type: 'reload' }

/** A worker's report with each collection. */
export type WorkerReport = { plane: PlaneFigures; process: ProcessFigures; signs: AbuseSign[] }

/** From a worker. `collected` comes after all earlier log lines. */
export type FromWorker =
  | { type: 'listening'; port: number; warning: string | null }
  | { type: 'failed'; host: string; code: string }
  /** A message for operators. */
  | { type: 'tell'; text: string }
  | { type: 'applied'; id: number }
  /** Comes with a socket, before its `lent`. */
  | { type: 'listener'; host: string; port: number }
  | { type: 'lent'; id: number; open: Shares['open'] }
  /** Changed counts of keys with many connections, as they occur. */
  | { type: 'open'; open: Shares['open'] }
  /** Counters, before their `collected`. */
  | { type: 'rows'; rows: TrafficRow[] }
  | { type: 'collected'; id: number; connections: number; report: WorkerReport; speeds: Shares['speeds'] }
  | { type: 'looked'; id: number; part: LivePart }
  | { type: 'ended'; id: number; ended: number }
  /** Finished lines of the access log, joined, because one text is far cheaper to send than many. */
  | { type: 'log'; text: string; lines: number }
