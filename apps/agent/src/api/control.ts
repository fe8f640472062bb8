import type { AgentHealth, AgentTraffic } from '@netlet/contract/agent'
import type { AccessLog } from '../log/access-log.ts'
import type { Routes } from '../net/routes.ts'
import type { Store } from '../state/store.ts'

/** What the management API works on. */
export type Control = {
  store: Store
  routes: Routes
  accessLog: AccessLog
  /** Resolves when the proxies listen: calls wait for it. */
  ready: Promise<void>
  /** The port of every proxy; 0 until ready. */
  proxyPort: number
  traffic: () => Promise<AgentTraffic>
  health: () => AgentHealth
  /** Writes the log lines that still wait in the workers. */
  flushLog: () => Promise<void>
  /** Reads the system's name servers and hosts file again. */
  reload: () => Promise<void>
}
