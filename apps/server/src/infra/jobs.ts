import { sql } from 'drizzle-orm'
import { fromDrizzle, PgBoss, type Queue } from 'pg-boss'
import { SESSION_OPTIONS, type Executor } from './db/client.ts'
import { followClock, steadyClock } from './job-clock.ts'
import { tellJobErrors } from './job-errors.ts'
import { startWorkers } from './job-workers.ts'
import { createYielding, type Importance, type Yielding } from './job-yielding.ts'
import type { Log } from './log.ts'

/** A queue of background work, declared by the domain that does the work. `T` is what a job carries. */
export type JobQueue<T extends object> = { name: string; options: Omit<Queue, 'name'>; readonly data?: T }

/** Where a job ends that failed as often as it may: kept for an administrator to look at and to send again. */
export const DEAD_LETTER = 'dead-letter'

/** Queues of earlier versions that ran by the clock. */
const RETIRED = new Set([
  'accounts-housekeeping',
  'rewards.decay-level-points',
  'rewards.housekeeping',
  'catalog.register-webhooks'
])

/** How long running jobs may go on when the process is asked to end; then they are handed to another one. */
const STOP_MS = 4_000

/** How often a worker looks whether the database's clock was set back. */
const CLOCK_MS = 15_000

/** A job of this priority or more is also taken by the workers that are reserved for urgent ones. */
export const URGENT = 10

/**
 * Declares a queue. By default a job is tried for about a day with growing pauses (1 s up to 10 min), and only one job
 * for the same key waits at a time: asking for the same work twice is asking once. A job whose process was killed is
 * found by its missing heartbeat and run again within a minute; a finished one is kept for a day.
 */
export function queue<T extends object>(name: string, options: Omit<Queue, 'name'> = {}): JobQueue<T> {
  return {
    name,
    options: {
      policy: 'short',
      notify: true,
      retryLimit: 150,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 600,
      expireInSeconds: 120,
      heartbeatSeconds: 20,
      deleteAfterSeconds: 86_400,
      deadLetter: DEAD_LETTER,
      ...options
    }
  }
}

export type SendOptions = {
  /** Jobs of one queue with the same key wait only once. */
  key?: string
  /** Milliseconds from now, by the database's clock: it is the one that says when a job is due. */
  startIn?: number
  /** Higher ones of a queue are taken first; see `URGENT`. By default 0. */
  priority?: number
  /** Whose work it is: a queue may limit how many jobs of one group run at once (`perGroup`). */
  group?: string
}

export type WorkOptions = {
  /** Jobs that this process works on at once. */
  concurrency?: number
  /** So many more, for jobs of the priority `URGENT` or above only. */
  reserved?: number
  /**
   * Jobs of one group that this process works on at once. Not over all processes: a job whose process was killed counts as
   * running for half a minute, and would keep its group waiting.
   */
  perGroup?: 1
  /** Background jobs give way to urgent ones of this process, each for a moment (`createYielding`). */
  importance?: Importance
}

export type Sender = {
  /**
   * Enqueues work within the caller's transaction: it happens if, and only if, the transaction commits.
   * @returns the job's id; null where one with this key waits already
   */
  send<T extends object>(tx: Executor, to: JobQueue<T>, data: T, options?: SendOptions): Promise<string | null>
}

export type Jobs = Sender & {
  /** Works on a queue in this process. */
  work<T extends object>(
    from: JobQueue<T>,
    handler: (data: T, jobId: string) => Promise<void>,
    options?: WorkOptions
  ): Promise<void>
  /** Runs `name` at the times of `cron` (UTC), once over all processes. */
  schedule(to: JobQueue<object>, cron: string): Promise<void>
  /** Sends dead letters to their queues again, within the caller's transaction. @returns how many there were */
  retryDead(tx: Executor, ids: readonly string[]): Promise<number>
  /** Does the queue answer? */
  healthy(): Promise<boolean>
  /** Stops fetching, waits for running handlers, closes the connections. */
  stop(): Promise<void>
}

/**
 * Opens the job queue on the shop's own database.
 * @param worker false: this process only enqueues; maintenance and cron are left to workers
 * @param pollSeconds how often an idle worker looks for jobs that no notification told of: tries again after a failure, and
 * jobs that were to start later
 * @param answerMs how long one of its statements waits for an answer
 */
export async function openJobs(options: {
  databaseUrl: string
  worker: boolean
  log: Log
  queues: JobQueue<object>[]
  pollSeconds?: number
  answerMs?: number
}): Promise<Jobs> {
  const { log, worker, pollSeconds = 2, answerMs = 30_000 } = options
  const yielding = createYielding()
  // The queue hands these to the driver. A connection that vanished without a word is thrown away.
  const patience = { keepAlive: true, query_timeout: answerMs, options: SESSION_OPTIONS }
  const boss = new PgBoss({
    ...patience,
    connectionString: options.databaseUrl,
    application_name: 'netlet jobs',
    max: worker ? 8 : 3,
    supervise: worker,
    schedule: worker,
    useListenNotify: worker,
    clock: steadyClock,
    // Times of schedules are the database's.
    clockMonitorIntervalSeconds: 15,
    // How soon the jobs of a killed process are looked for.
    superviseIntervalSeconds: 15,
    monitorIntervalSeconds: 15,
    cronMonitorIntervalSeconds: 15,
    cronWorkerIntervalSeconds: 5
  })
  boss.on('error', tellJobErrors(log))
  await boss.start()
  await boss.createQueue(DEAD_LETTER)
  for (const { name, options: settings } of options.queues) {
    await boss.createQueue(name, settings)
    await boss.updateQueue(name, withoutPolicy(settings))
  }
  if (worker) await removeOldSchedules(boss)
  const unfollow = worker ? followClock(boss, CLOCK_MS) : () => {}
  return {
    async send(tx, to, data, { key, startIn, priority, group } = {}) {
      for (;;) {
        const id = await boss.send(to.name, data, {
          db: fromDrizzle(tx, sql),
          ...(key === undefined ? {} : { singletonKey: key }),
          ...(startIn === undefined ? {} : { startAfter: startIn / 1000 }),
          ...(priority === undefined ? {} : { priority }),
          ...(group === undefined ? {} : { group: { id: group } })
        })
        if (id !== null || key === undefined || (await holdWaiting(tx, to, key))) return id
      }
    },
    async work(from, handler, { concurrency = 1, reserved = 0, perGroup, importance = 'normal' } = {}) {
      const start = (run: Yielding[Importance], options: { most: number; minPriority?: number }) =>
        startWorkers(boss, log, from.name, (data, id) => run(() => handler(data as never, id)), {
          perGroup,
          pollSeconds,
          ...options
        })
      await start(yielding[importance], { most: concurrency })
      if (reserved > 0) await start(yielding.normal, { most: reserved, minPriority: URGENT })
    },
    async schedule(to, cron) {
      await boss.schedule(to.name, cron, {}, { tz: 'UTC', singletonKey: 'cron' })
    },
    retryDead: (tx, ids) => boss.redrive(DEAD_LETTER, { ids: [...ids], db: fromDrizzle(tx, sql) }),
    healthy: async () => {
      try {
        return await boss.isInstalled()
      } catch {
        return false
      }
    },
    async stop() {
      unfollow()
      await boss.stop({ graceful: true, timeout: STOP_MS })
    }
  }
}

/**
 * Removes the times of queues that an earlier version declared: nobody works on these any more. By name, since what this
 * version does not know may be a newer one's, whose workers run beside this one during an update.
 */
async function removeOldSchedules(boss: PgBoss): Promise<void> {
  for (const { name, key } of await boss.getSchedules()) if (RETIRED.has(name)) await boss.unschedule(name, key)
}

/**
 * Keeps a job that waits already from being taken up before the transaction ends: it would not see what the
 * transaction wrote, and no other job would follow. False where it has been taken up: then another one is sent.
 * The conditions are those of the queue's unique index.
 *
 * A worker passes over the job while we hold it, so our commit wakes the workers once more: where many ask for the same,
 * one of them holds it at almost any moment, and it would wait for a poll that meets none.
 */
async function holdWaiting(tx: Executor, { name }: JobQueue<object>, key: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    with held as materialized (
      select name from pgboss.job
      where name = ${name} and coalesce(singleton_key, '') = ${key} and state = 'created' and policy = 'short'
      for key share
    )
    select pg_notify('pgboss_' || left(encode(sha224('pgboss'), 'hex'), 24), name) from held`)
  return rows.length > 0
}

/** A queue's policy is fixed when it is made. */
function withoutPolicy({ policy: _policy, partition: _partition, ...settings }: Omit<Queue, 'name'>) {
  return settings
}
