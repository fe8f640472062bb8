import type { AgentHealth, AgentLoad } from '@netlet/contract/agent'
import type { FileHandle } from 'node:fs/promises'
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
  /** The figures, as `AgentTraffic` in JSON; the caller closes the file. */
  traffic: () => Promise<FileHandle>
  health: () => AgentHealth
  load: () => AgentLoad
  /** Writes the log lines that still wait in the workers. */
  flushLog: () => Promise<void>
  /** Reads the system's name servers and hosts file again. */
  reload: () => Promise<void>
}
