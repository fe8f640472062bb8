import type { ChangeFeed } from './change-feed.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Database } from './db/client.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import type { Secrets } from './secrets.ts'

/** What the process opens once. A query takes only the parts it needs (`Pick`). */
export type AppContext = {
  config: Config
  db: Database
  jobs: Jobs
  log: Log
  now: Clock
  secrets: Secrets
  changes: ChangeFeed
  /** Shorter waits for the e-commerce platform: for its silence, and for its rate limit. */
  platformLimits?: { timeoutMs: number; sleep: (ms: number) => Promise<unknown> }
}
