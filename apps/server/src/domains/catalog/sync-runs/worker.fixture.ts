// A worker process that a test kills. It works on the sync in its arguments.
import { openChangeFeed } from '../../../infra/change-feed.ts'
import { systemClock } from '../../../infra/clock.ts'
import { readConfig } from '../../../infra/config.ts'
import type { AppContext } from '../../../infra/context.ts'
import { openDatabase } from '../../../infra/db/client.ts'
import { openJobs } from '../../../infra/jobs.ts'
import { createLog } from '../../../infra/log.ts'
import { createSecrets } from '../../../infra/secrets.ts'
import { syncQueue, workOnSync } from './work.ts'

const config = readConfig(process.env)
const log = createLog('test', 'silent')
const db = openDatabase(config.databaseUrl, { max: 3 })
const ctx: AppContext = {
  config,
  db,
  log,
  jobs: await openJobs({ db, listenUrl: null, log, queues: [syncQueue] }),
  changes: await openChangeFeed({ databaseUrl: config.databaseUrl, db, log }),
  now: systemClock,
  secrets: createSecrets(config.appSecret, config.formerAppSecret)
}
await workOnSync(ctx, Number(process.argv[2]))
process.exit(0)
