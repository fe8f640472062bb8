import type { AgentProgram } from '@netlet/contract/agent-takeover'
import type { agentChangesQuery, AgentHealth, AgentLoad, AgentTrafficChanges } from '@netlet/contract/agent'
import type { FileHandle } from 'node:fs/promises'
import type { z } from 'zod'
import type { AccessLog, LogFollower } from '../log/access-log.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import type { Routes } from '../net/routes.ts'
import type { ProxyTls } from '../proxy-tls.ts'
import type { OwnerFile } from '../state/owner.ts'
import type { Alarms } from '../state/alarms.ts'
import type { Measured } from './metrics.ts'
import type { Store } from '../state/store.ts'
import type { TokenFile } from '../state/token.ts'

/** The parts of the agent that the management API uses. */
export type Control = {
  store: Store
  owner: OwnerFile
  token: TokenFile
  proxyTls: ProxyTls
  routes: Routes
  accessLog: AccessLog
  /** Resolves when the proxies listen. Calls wait for it. */
  ready: Promise<void>
  /** The port of every proxy; 0 until ready. */
  proxyPort: number
  /** The figures as JSON (`AgentTraffic`). The caller closes the file. Null: they could not be saved. */
  openTraffic: () => Promise<FileHandle | null>
  /** The figures that changed since a cursor, one page at a time. Null as above. */
  trafficChanges: (query: z.output<typeof agentChangesQuery>) => Promise<AgentTrafficChanges | null>
  health: () => AgentHealth
  program: () => AgentProgram
  /** Another process is taking the state over, or has it: no call may change anything here. */
  isHandingOver: () => boolean
  /** Another process has the state. */
  isHandedOver: () => boolean
  load: () => AgentLoad
  alarms: Alarms
  follower: LogFollower
  listConnections: (user: string | null, limit: number) => Promise<LivePart>
  endConnections: (user: string, connection: string | null) => Promise<number>
  refusals: () => { refusals: Record<string, number>; refusals_since: string }
  metrics: () => Measured
  /** Writes the log lines that workers still hold. */
  flushLog: () => Promise<void>
  /** Reads name servers and the hosts file again, and sets the routes again. */
  reload: () => Promise<void>
}
