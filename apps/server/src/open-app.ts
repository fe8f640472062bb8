import { reasonOf } from './infra/text.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureAdmin } from './domains/accounts/index.ts'
import { startChatBot } from './domains/chat/index.ts'
import { seedLevelCodes } from './domains/rewards/index.ts'
import { checkAppSecret, storeLogLines } from './domains/settings/index.ts'
import { openChangeFeed } from './infra/change-feed.ts'
import { systemClock } from './infra/clock.ts'
import type { Config } from './infra/config.ts'
import { closeDatabase, isTemporaryFailure, openDatabase, sqlState } from './infra/db/client.ts'
import { migrate, StartupError } from './infra/db/migrate.ts'
import { checkPooler } from './infra/db/pooler.ts'
import { useReplica } from './infra/db/replica.ts'
import { startJobs } from './infra/job.ts'
import { openJobs } from './infra/jobs.ts'
import { createLog, createLogTail } from './infra/log.ts'
import { createSecrets } from './infra/secrets.ts'
import type { AppContext } from './infra/context.ts'
import { allJobs, allQueues } from './workers.ts'

export type OpenApp = { ctx: AppContext; close: () => Promise<void> }

type Role = {
  /** This process also runs jobs. */
  worker: boolean
  /** It also answers browsers; if not, all it logs is about tasks. */
  serves?: boolean
  /** How long it waits for a database that starts or has no free connection (ms). */
  patienceMs?: number
}

/** Below the time that systemd gives a service to start. */
const PATIENCE_MS = 60_000
const RETRY_MS = 1000

/**
 * Opens what a process of the shop needs: the migrated database, the job queue, the log.
 * @throws StartupError with one line that says what to do
 */
export async function openApp(config: Config, { patienceMs = PATIENCE_MS, ...role }: Role): Promise<OpenApp> {
  const started = performance.now()
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await openOnce(config, role)
    } catch (error) {
      if (error instanceof StartupError) throw error
      if (!isBusy(error) || performance.now() - started >= patienceMs) throw startupErrorOf(error, config)
      if (isFirst) console.error(`The database is busy: ${reasonOf(error)}. The start waits for it.`)
      await sleep(RETRY_MS)
    }
  }
}

async function openOnce(config: Config, { worker, serves = true }: Omit<Role, 'patienceMs'>): Promise<OpenApp> {
  const { databaseUrl, sessionUrl, replicaUrl, pooled, connections: max } = config
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of opened.splice(0).toReversed()) await end()
  }
  try {
    const tail = createLogTail({ worker: !serves })
    const log = createLog('netlet', config.logLevel, tail.stream)
    await migrate(sessionUrl).catch((error: unknown) => {
      throw error instanceof StartupError || sqlState(error) ? error : noAnswer(error, sessionUrl)
    })
    const db = openDatabase(databaseUrl, { max, sessionUrl, pooled })
    opened.push(() => closeDatabase(db))
    if (pooled) await checkPooler(db, log)
    if (replicaUrl && serves) opened.push(useReplica(db, { url: replicaUrl, max, log }))
    opened.push(() => tail.stop())
    const changes = await openChangeFeed({ databaseUrl: sessionUrl, db, log })
    opened.push(() => changes.stop())
    const jobs = await openJobs({ db, listenUrl: worker ? sessionUrl : null, log, queues: allQueues })
    opened.push(() => jobs.stop())
    const secrets = createSecrets(config.appSecret, config.formerAppSecret)
    const found: AppContext = { config, db, jobs, log, now: systemClock, secrets, changes }
    tail.start(storeLogLines(found))
    const ctx: AppContext = { ...found, secrets: await checkAppSecret(found) }
    await ensureAdmin(ctx)
    await seedLevelCodes(ctx)
    if (worker) {
      await startJobs(ctx, allJobs)
      const bot = startChatBot(ctx)
      opened.push(() => bot.stop())
    }
    return { ctx, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What PgBouncer says, with one code for all, when it has no connection for a while. */
const POOLER_BUSY =
  /no more connections|query_wait_timeout|cannot connect|login (?:failed|has been failing)|shutting down/i

/** The database starts, or has no free connection. */
const isBusy = (error: unknown): boolean =>
  ['53300', '57P03'].includes(sqlState(error) ?? '') ||
  (sqlState(error) === '08P01' && POOLER_BUSY.test(reasonOf(error)))

/** A person can mend a missing right, database or role, space and connections. Anything else is a bug. */
function startupErrorOf(error: unknown, { sessionUrl }: Config): unknown {
  const isTheirs = isTemporaryFailure(error) || /^(28|3D)|^42501$/.test(sqlState(error) ?? '')
  return isTheirs ? noAnswer(error, sessionUrl) : error
}

const noAnswer = (error: unknown, url: string): StartupError =>
  new StartupError(
    `The database does not respond: ${reasonOf(error)}. Check DATABASE_URL (${withoutPassword(url)}) and that PostgreSQL is running.`
  )

function withoutPassword(url: string): string {
  try {
    const shown = new URL(url)
    shown.password = ''
    return shown.href
  } catch {
    return 'not an address'
  }
}
