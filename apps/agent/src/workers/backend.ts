import type { AgentCode } from '@netlet/contract/agent-codes'
import type { Listener } from '../net/listen-handle.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { Pem } from '../certificate.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { PlaneFigures } from '../proxy/plane-figures.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { ProcessFigures } from './process-figures.ts'
import type { Op } from '../state/definitions.ts'
import type { Store } from '../state/store.ts'

export type Started = { ok: true; port: number } | { ok: false; host: string; code: string }

export type Lent = { listeners: Listener[]; open: Shares['open'] }

export type BackendFigures = { plane: PlaneFigures; processes: ProcessFigures[]; restarts: number }

/** The data plane: in this process, or in several that share the port. */
export type Backend = {
  /** Loads the state and listens. */
  start(store: Store): Promise<Started>
  /** The first half of `start`: loads the state without listening. False: failed. */
  prepare(store: Store): Promise<boolean>
  /** The second half of `start`. Uses opened sockets for hosts that have any. */
  listen(opened: Listener[]): Promise<Started>
  /** The listening sockets and open connections, for a successor. */
  lend(): Promise<Lent>
  /** Accepts no new connections, and replaces no worker that ends. */
  drain(): Promise<void>
  /** Shares of limits, from and to other processes with the same users. `isTogether`: whether there are any. */
  shares(): Shares
  share(shares: Shares, isTogether: boolean): void
  /** Resolves when every process has applied the changes. */
  publish(ops: Op[]): Promise<void>
  /** Counts since the last call, in pieces. Resolves after all earlier log lines were passed on. */
  collect(): Promise<Iterable<TrafficRow[]>>
  /** Open client connections at the last `collect`. */
  connections(): number
  /** Sets the certificate for new connections to the proxy port. Null: no TLS. */
  secure(pem: Pem | null): void
  /** Sets all users with no quota left, as `user id`. */
  setSpent(users: string[]): void
  reload(): void
  /** Figures at the last `collect`. Counters include workers that are gone. */
  figures(): BackendFigures
  /** Open connections of a user, or with null a list by user. */
  look(user: string | null, limit: number): Promise<LivePart>
  /** Ends the user's connections, or only the one with this id. Returns how many. */
  end(user: string, connection: string | null): Promise<number>
  /** Signs of abuse since the last call. */
  signs(): AbuseSign[]
  /** Processes that serve, and how many should. */
  serving(): { now: number; wanted: number }
  /** Stops listening, cuts every connection with this log note, and returns the last counts. */
  close(note?: AgentCode | null): Promise<Iterable<TrafficRow[]>>
}
