import type { AgentProgram } from '@netlet/contract/agent-takeover'
import type { AgentHealth, AgentLoad, agentChangesQuery, AgentTrafficChanges } from '@netlet/contract/agent'
import type { FileHandle } from 'node:fs/promises'
import type { z } from 'zod'
import type { AccessLog } from '../log/access-log.ts'
import type { LogFollower } from '../log/follower.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { Routes } from '../net/routes.ts'
import type { ProxyTls } from '../proxy-tls.ts'
import type { OwnerFile } from '../state/owner.ts'
import type { Alarms } from '../state/alarms.ts'
import type { Measured } from './metrics.ts'
import type { Store } from '../state/store.ts'

/** What the management API works on. */
export type Control = {
  store: Store
  owner: OwnerFile
  proxyTls: ProxyTls
  routes: Routes
  accessLog: AccessLog
  /** Resolves when the proxies listen: calls wait for it. */
  ready: Promise<void>
  /** The port of every proxy; 0 until ready. */
  proxyPort: number
  /** The figures, as `AgentTraffic` in JSON; the caller closes the file. Null: they could not be saved. */
  traffic: () => Promise<FileHandle | null>
  /** What changed of them, a piece at a time. Null as above. */
  trafficChanges: (query: z.output<typeof agentChangesQuery>) => Promise<AgentTrafficChanges | null>
  health: () => AgentHealth
  program: () => AgentProgram
  /** Another process is about to have the state, or has it: nothing is changed here. */
  isHandingOver: () => boolean
  /** Another process has it. */
  isHandedOver: () => boolean
  load: () => AgentLoad
  alarms: Alarms
  follower: LogFollower
  look: (user: string | null, limit: number) => Promise<LivePart>
  end: (user: string, connection: string | null) => Promise<number>
  refusals: () => { refusals: Record<string, number>; refusals_since: string }
  measured: () => Measured
  /** Writes the log lines that still wait in the workers. */
  flushLog: () => Promise<void>
  /** Reads the system's name servers and hosts file again. */
  reload: () => Promise<void>
}
