import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Listener } from '../net/listen-handle.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { Pem } from '../certificate.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { ProcessFigures } from './process-figures.ts'
import type { Op } from '../state/ops.ts'
import type { Store } from '../state/store.ts'

export type Started = { ok: true; port: number } | { ok: false; host: string; code: string }

export type Lent = { listeners: Listener[]; open: Shares['open'] }

export type BackendFigures = { plane: PlaneFigures; processes: ProcessFigures[]; restarts: number }

/** Where proxying happens: in this process, or in several that share the port. */
export type Backend = {
  /** Takes the state over and listens. */
  start(store: Store): Promise<Started>
  /** The first half of `start`: takes the state over, and listens to nothing yet. False where that failed. */
  prepare(store: Store): Promise<boolean>
  /** The second half, on sockets that are open already where there are any for a host. */
  listen(opened: Listener[]): Promise<Started>
  /** The sockets that it listens on, for a process that takes over, and what is open. */
  lend(): Promise<Lent>
  /** Takes no new connections from now on, and replaces no process that ends. */
  drain(): Promise<void>
  /** What others who serve the same users have to know, and the other way round; `isTogether`: whether there are any. */
  shares(): Shares
  share(shares: Shares, isTogether: boolean): void
  /** Resolves when every process looks the changes up. */
  publish(ops: Op[]): Promise<void>
  /** What was counted since the last call, some rows at a time. Log lines written before have been handed over when it resolves. */
  collect(): Promise<Iterable<TrafficRow[]>>
  /** Open client connections, as of the last `collect`. */
  connections(): number
  /** Another certificate of the proxy port, or none any more, for new connections. */
  secure(pem: Pem | null): void
  /** Whose traffic is used up, as `user id`: all of them. */
  setSpent(users: string[]): void
  reload(): void
  /** As of the last `collect`; counters count workers that are gone, too. */
  figures(): BackendFigures
  /** The open connections of a user, or (null) by user. */
  look(user: string | null, limit: number): Promise<LivePart>
  /** Ends the connections of a user, or the one with this id; how many. */
  end(user: string, connection: string | null): Promise<number>
  /** Signs of abuse since the last call. */
  signs(): AbuseSign[]
  /** How many processes serve, of how many there should be. */
  serving(): { now: number; wanted: number }
  /** Stops listening, cuts every connection (`note`: what the log is to say of it), and gives the last counts. */
  close(note?: AgentCode | null): Promise<Iterable<TrafficRow[]>>
}
