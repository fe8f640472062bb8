import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Pem } from '../certificate.ts'
import type { Elsewhere, Shares } from '../proxy/connection-limits.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { ProcessFigures } from './process-figures.ts'
import type { PlaneConfig } from './local.ts'

/** From the managing process to a worker. Messages arrive in the order in which they were sent. */
export type ToWorker =
  | { type: 'start'; config: PlaneConfig }
  /** After the state: whoever connects finds it known. */
  | { type: 'listen' }
  /** With a socket that is open already; before `listen`. */
  | { type: 'listener'; host: string; port: number }
  /** Send the sockets that are listened on. */
  | { type: 'lend'; id: number }
  /** Take no new connections. */
  | { type: 'drain'; id: number }
  | { type: 'ops'; id: number; ops: Op[] }
  /** Entries of a deny set (by its hash) or of the blacklist, before the op that brings it. */
  | { type: 'entries'; id: number; list: string; entries: string[] }
  | { type: 'collect'; id: number }
  /** Cut everything and collect for the last time. */
  | { type: 'stop'; id: number; note: AgentCode | null }
  /** The open connections of a user, or (null) by user. */
  | { type: 'look'; id: number; user: string | null; limit: number }
  /** End the connections of a user, or one of them. */
  | { type: 'end'; id: number; user: string; connection: string | null }
  | { type: 'certificate'; pem: Pem | null }
  /** Whose traffic is used up, see `Plane.setSpent`. */
  | { type: 'spent'; users: string[] }
  /** What changed of what the other processes have; `isTogether`: whether some are before or after the workers. */
  | { type: 'elsewhere'; open: Elsewhere[]; isTogether: boolean }
  /** What the others use of speeds that are used here, all of it. */
  | { type: 'speeds'; speeds: Shares['speeds'] }
  | { type: 'reload' }

/** What a worker tells of itself each time that it is asked for its counts. */
export type WorkerTold = { plane: PlaneFigures; process: ProcessFigures; signs: AbuseSign[] }

/** From a worker. `collected` comes after all log lines written before it. */
export type FromWorker =
  | { type: 'listening'; port: number; warning: string | null }
  | { type: 'failed'; host: string; code: string }
  /** What an operator should know. */
  | { type: 'tell'; text: string }
  | { type: 'applied'; id: number }
  /** With a socket; before the `lent` that it belongs to. */
  | { type: 'listener'; host: string; port: number }
  | { type: 'lent'; id: number; open: Shares['open'] }
  /** Of whom there are many connections here: what changed, told as it comes. */
  | { type: 'open'; open: Shares['open'] }
  /** Counts, before the `collected` that they belong to. */
  | { type: 'rows'; rows: TrafficRow[] }
  | { type: 'collected'; id: number; connections: number; told: WorkerTold; speeds: Shares['speeds'] }
  | { type: 'looked'; id: number; part: LivePart }
  | { type: 'ended'; id: number; ended: number }
  /** Finished lines of the access log, joined: one text costs far less to send than many. */
  | { type: 'log'; text: string; lines: number }
