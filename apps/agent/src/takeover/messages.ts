import type { AgentDraining } from '@netlet/contract/agent-takeover'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/ops.ts'
import type { ProcessFigures } from '../workers/process-figures.ts'

// Each change of these messages, or of what is in them (`Op`, rows, figures), that the other end would not understand raises
// TAKEOVER_FORMAT of the contract, by which the console knows what can take over from what.

/** The argument by which the program is started to take over from the process that starts it. */
export const TAKEOVER = 'takeover'

/** From the process that serves to the one that takes over, and later from the one that drains. */
export type ToSuccessor =
  /** `journal`: how many bytes of it are durable. */
  | {
      type: 'begin'
      format: number
      version: string
      pid: number
      folder: string
      host: string
      port: number
      journal: number
    }
  /** With a listening socket; `which`: of the proxies or of the management. */
  | { type: 'listener'; which: 'proxy' | 'management'; host: string; port: number }
  /** With the socket that locks the folder; `name` of its file. */
  | { type: 'lock'; name: string }
  /** The state is free, and everything is on the disk. After the sockets. `open`: connections that count for limits. */
  | { type: 'yours'; open: Shares['open'] }
  /** No new connection is taken here any more; what there is. */
  | { type: 'draining'; told: Told }
  | { type: 'log'; text: string; lines: number }
  | { type: 'rows'; rows: TrafficRow[] }
  | { type: 'applied'; id: number }
  | { type: 'collected'; id: number; told: Told }
  | { type: 'looked'; id: number; part: LivePart }
  | { type: 'ended'; id: number; ended: number }

/** From the process that takes over. */
export type ToPredecessor =
  /** Its workers know the state. */
  | { type: 'ready'; format: number }
  /** It cannot take over, and ends. */
  | { type: 'failed'; reason: string }
  /** It takes connections. */
  | { type: 'serving' }
  | { type: 'ops'; id: number; ops: Op[] }
  | { type: 'collect'; id: number; shares: Shares }
  | { type: 'look'; id: number; user: string | null; limit: number }
  | { type: 'end'; id: number; user: string; connection: string | null }
  | { type: 'spent'; users: string[] }
  | { type: 'reload' }
  /** Of the processes that drain, this one included, so many may go on. */
  | { type: 'keep'; most: number }
  /** Cut everything; the last counts are the answer. */
  | { type: 'cut'; id: number }
  /** There is nothing more to ask: end. */
  | { type: 'leave' }

/** What a process that drains tells of itself and of those that drain behind it. Counters since it drains. */
export type Told = {
  connections: number
  plane: PlaneFigures
  processes: ProcessFigures[]
  signs: AbuseSign[]
  shares: Shares
  /** Newest first. */
  draining: AgentDraining[]
}
