import { ensureAdmin } from './domains/accounts/index.ts'
import { startChatBot } from './domains/chat/index.ts'
import { seedLevelCodes } from './domains/rewards/index.ts'
import { checkAppSecret, storeLogLines } from './domains/settings/index.ts'
import { openChangeFeed } from './infra/change-feed.ts'
import { systemClock } from './infra/clock.ts'
import type { Config } from './infra/config.ts'
import { closeDatabase, openDatabase } from './infra/db/client.ts'
import { migrate, StartupError } from './infra/db/migrate.ts'
import { startJobs } from './infra/job.ts'
import { openJobs } from './infra/jobs.ts'
import { createLog, createLogTail } from './infra/log.ts'
import { createSecrets } from './infra/secrets.ts'
import type { AppContext } from './infra/context.ts'
import { allJobs, allQueues } from './workers.ts'

export type OpenApp = { ctx: AppContext; close: () => Promise<void> }

/**
 * Opens what a process of the shop needs: the migrated database, the job queue, the log.
 * @param worker this process also runs jobs
 * @param serves it also answers browsers; if not, all it logs is about tasks
 * @throws StartupError with one line that says what to do
 */
export async function openApp(
  config: Config,
  { worker, serves = true }: { worker: boolean; serves?: boolean }
): Promise<OpenApp> {
  const tail = createLogTail({ worker: !serves })
  const log = createLog('netlet', config.logLevel, tail.stream)
  await migrate(config.databaseUrl).catch((error: unknown) => {
    if (error instanceof StartupError) throw error
    throw new StartupError(
      `The database does not answer: ${reasonOf(error)}. Check DATABASE_URL (${withoutPassword(config.databaseUrl)}) and that PostgreSQL runs.`
    )
  })
  const db = openDatabase(config.databaseUrl)
  const jobs = await openJobs({ databaseUrl: config.databaseUrl, worker, log, queues: allQueues })
  const changes = await openChangeFeed({ databaseUrl: config.databaseUrl, db, log })
  const ctx: AppContext = { config, db, jobs, log, now: systemClock, secrets: createSecrets(config.appSecret), changes }
  tail.start(storeLogLines(ctx))
  let bot: ReturnType<typeof startChatBot> | null = null
  const close = async () => {
    await bot?.stop()
    await jobs.stop()
    await changes.stop()
    await tail.stop()
    await closeDatabase(db)
  }
  try {
    await checkAppSecret(ctx)
    await ensureAdmin(ctx)
    await seedLevelCodes(ctx)
    if (worker) await startJobs(ctx, allJobs)
  } catch (error) {
    await close()
    throw error
  }
  if (worker) bot = startChatBot(ctx)
  return { ctx, close }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message || error.name : String(error)
}

function withoutPassword(url: string): string {
  try {
    const shown = new URL(url)
    shown.password = ''
    return shown.href
  } catch {
    return 'not an address'
  }
}
