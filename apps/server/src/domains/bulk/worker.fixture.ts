// A worker process that a test kills. It works on the run in its arguments.
import { sql } from '../../infra/db/drizzle.ts'
import { openChangeFeed } from '../../infra/change-feed.ts'
import { systemClock } from '../../infra/clock.ts'
import { readConfig } from '../../infra/config.ts'
import type { AppContext } from '../../infra/context.ts'
import { openDatabase } from '../../infra/db/client.ts'
import { openJobs } from '../../infra/jobs.ts'
import { createLog } from '../../infra/log.ts'
import { ok } from '../../infra/result.ts'
import { createSecrets } from '../../infra/secrets.ts'
import type { BulkWork } from './actions.ts'
import { eachAction } from './each-action.fixture.ts'
import { bulkQueues } from './start-run.ts'
import { workOnRun } from './work-on-run.ts'

/** Marks each row in a table that accepts the same row twice, with a pause, so that a kill hits it in the middle. */
const marking: BulkWork = {
  ids: async () => ok([]),
  labels: async () => new Map(),
  async run({ tx }, id) {
    await tx.execute(sql`insert into marks (row_id) values (${id})`)
    await tx.execute(sql`select pg_sleep(0.01)`)
    return ok(null)
  }
}
const config = readConfig(process.env)
const log = createLog('test', 'silent')
const db = openDatabase(config.databaseUrl, { max: 2 })
const ctx: AppContext = {
  config,
  db,
  log,
  jobs: await openJobs({ db, listenUrl: null, log, queues: bulkQueues }),
  changes: await openChangeFeed({ databaseUrl: config.databaseUrl, db, log }),
  now: systemClock,
  secrets: createSecrets(config.appSecret, config.formerAppSecret)
}
await workOnRun(ctx, eachAction(marking), Number(process.argv[2]))
process.exit(0)
