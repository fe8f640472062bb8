import type { ChildProcess, SendHandle } from 'node:child_process'
import type { AgentDraining } from '@netlet/contract/agent-takeover'
import type { ListenHandle } from '../net/listen-handle.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Op } from '../state/definitions.ts'
import type { ProcessFigures } from '../workers/process-figures.ts'

// A change of these messages, or of their contents (`Op`, rows, figures), that the other end would misread must raise
// TAKEOVER_FORMAT of the contract. The console decides by it which versions can take over from each other.

/** The argument that starts the program as a successor. */
export const TAKEOVER = 'takeover'

/** From the serving, later draining, process to its successor. */
export type ToSuccessor =
  /** `journal`: length of its durable part in bytes. */
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
  /** Comes with a listening socket. */
  | { type: 'listener'; which: 'proxy' | 'management'; host: string; port: number }
  /** Comes with the socket that locks the folder. `name`: its file. */
  | { type: 'lock'; name: string }
  /** Comes after the sockets. The state is on the disk and released. `open`: connections that count for limits. */
  | { type: 'yours'; open: Shares['open'] }
  /** No new connections are accepted here. */
  | { type: 'draining'; told: DrainReport }
  | { type: 'log'; text: string; lines: number }
  | { type: 'rows'; rows: TrafficRow[] }
  | { type: 'applied'; id: number }
  | { type: 'collected'; id: number; told: DrainReport }
  | { type: 'looked'; id: number; part: LivePart }
  | { type: 'ended'; id: number; ended: number }

/** From the successor. */
export type ToPredecessor =
  /** The workers have the state. */
  | { type: 'ready'; format: number }
  /** The takeover failed, and the successor ends. */
  | { type: 'failed'; reason: string }
  /** The successor accepts connections. */
  | { type: 'serving' }
  | { type: 'ops'; id: number; ops: Op[] }
  | { type: 'collect'; id: number; shares: Shares }
  | { type: 'look'; id: number; user: string | null; limit: number }
  | { type: 'end'; id: number; user: string; connection: string | null }
  | { type: 'spent'; users: string[] }
  | { type: 'reload' }
  /** How many processes may drain, this one included. */
  | { type: 'keep'; most: number }
  /** Cut all connections and send the last counts. */
  | { type: 'cut'; id: number }
  /** End: nothing more will be asked. */
  | { type: 'leave' }

/** Report of a draining process, with those behind it. Counters start with its drain. */
export type DrainReport = {
  connections: number
  plane: PlaneFigures
  processes: ProcessFigures[]
  signs: AbuseSign[]
  shares: Shares
  /** Newest first. */
  draining: AgentDraining[]
}

/** One end of the channel between a process and its successor. */
export type Channel<In, Out> = {
  send(message: Out, handle?: ListenHandle): void
  /** @param heard gets each message, with the socket that was sent with it */
  onMessage(heard: (message: In, handle: ListenHandle | undefined) => void): void
  /** Resolves when the other end is gone. */
  readonly gone: Promise<void>
  readonly isGone: boolean
  close(): void
}

/** @param end the process itself, for the channel to its parent, or a child */
export function channelOf<In, Out>(end: ChildProcess | NodeJS.Process): Channel<In, Out> {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  if (!end.connected) resolve()
  end.once('disconnect', () => resolve())
  // 'disconnect' reports the loss.
  end.on('error', () => {})
  return {
    send: (message, handle) => {
      if (end.connected) end.send?.(message as object, handle as SendHandle | undefined, {}, () => {})
    },
    onMessage: heard => {
      end.on('message', (message: unknown, handle: unknown) => heard(message as In, handle as ListenHandle | undefined))
    },
    gone,
    get isGone() {
      return !end.connected
    },
    close: () => {
      if (end.connected) end.disconnect()
    }
  }
}
