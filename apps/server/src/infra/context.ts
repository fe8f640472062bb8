import type { ChangeFeed } from './change-feed.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Database } from './db/client.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import type { Secrets } from './secrets.ts'

/** What the process has opened once and commands borrow. A query asks only for the parts it needs (`Pick`). */
export type AppContext = {
  config: Config
  db: Database
  jobs: Jobs
  log: Log
  now: Clock
  secrets: Secrets
  changes: ChangeFeed
  /** How the e-commerce platform is waited for, where the standard is too long: for its silence, and while it limits calls. */
  platformLimits?: { timeoutMs: number; sleep: (ms: number) => Promise<unknown> }
}
