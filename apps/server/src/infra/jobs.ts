import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, type Db, fromDrizzle, PgBoss, type Queue } from 'pg-boss'
import { closeDatabase, type Database, type Executor, openDatabase } from './db/client.ts'
import { sql } from './db/drizzle.ts'
import { keepListening } from './db/listen.ts'
import { startWorkers } from './job-workers.ts'
import type { Log } from './log.ts'
import { MINUTE } from './clock.ts'

/** A queue of background work, declared by the domain that does it. `T` is the data of a job. */
export type JobQueue<T extends object> = { name: string; options: Omit<Queue, 'name'>; readonly data?: T }

/** Receives jobs that used all their retries. An administrator can look at them and send them again. */
export const DEAD_LETTER = 'dead-letter'

/** Scheduled queues of earlier versions. */
const RETIRED = new Set([
  'accounts-housekeeping',
  'rewards.decay-level-points',
  'rewards.housekeeping',
  'catalog.register-webhooks'
])

/** How long running jobs may continue during shutdown. Another process then retries them. */
const STOP_MS = 4_000

/** How often a worker checks whether the database's clock was set back. */
const CLOCK_MS = 15_000

/** Workers reserved for urgent jobs take this priority and above. */
export const URGENT = 10

/**
 * Declares a queue. By default a job is retried for about a day with growing pauses (1 s to 10 min), and only one job
 * per key waits at a time. A job of a killed process runs again within a minute. A finished job is kept for a day.
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
  /** Only one job of a queue waits with the same key. */
  key?: string
  /** Delay in milliseconds, by the database's clock, which decides when a job is due. */
  startIn?: number
  /** Higher priorities of a queue run first; default 0. See `URGENT`. */
  priority?: number
  /** Whose work it is. A queue may limit how many jobs of one group run at once (`perGroup`). */
  group?: string
}

export type WorkOptions = {
  /** Jobs that this process runs at once. */
  concurrency?: number
  /** Additional workers for jobs of priority `URGENT` and above only. */
  reserved?: number
  /**
   * Jobs of one group that this process runs at once. The limit is not global, because a job whose process was killed
   * still counts as running for half a minute and would block its group.
   */
  perGroup?: 1
  /** Background jobs of this process yield to urgent ones (`createYielding`). */
  importance?: Importance
}

export type Sender = {
  /**
   * Enqueues work in the caller's transaction: the job exists if, and only if, the transaction commits.
   * @returns the job's id; null if a job with this key already waits
   */
  send<T extends object>(tx: Executor, to: JobQueue<T>, data: T, options?: SendOptions): Promise<string | null>
}

export type Jobs = Sender & {
  work<T extends object>(
    from: JobQueue<T>,
    handler: (data: T, jobId: string) => Promise<void>,
    options?: WorkOptions
  ): Promise<void>
  /** Runs a queue at the times of `cron` (UTC), once across all processes. */
  schedule(to: JobQueue<object>, cron: string): Promise<void>
  /** Sends dead letters to their queues again, in the caller's transaction. @returns how many there were */
  retryDead(tx: Executor, ids: readonly string[]): Promise<number>
  healthy(): Promise<boolean>
  /** Stops fetching, waits for running handlers, and closes the connections. */
  stop(): Promise<void>
}

/**
 * Opens the job queue on the shop's database, over the connections of `db`.
 * @param listenUrl a worker listens there for new jobs; null: this process only enqueues, and leaves maintenance and
 *   schedules to workers
 * @param pollSeconds how often an idle worker polls for jobs without a notification: retries and delayed jobs
 */
export async function openJobs(options: {
  db: Database
  listenUrl: string | null
  log: Log
  queues: JobQueue<object>[]
  pollSeconds?: number
}): Promise<Jobs> {
  const { listenUrl, log, pollSeconds = 2 } = options
  const worker = listenUrl !== null
  const yielding = createYielding()
  const adapter = adapterOf(options)
  const boss = new PgBoss({
    db: adapter.db,
    supervise: worker,
    schedule: worker,
    useListenNotify: worker,
    clock: steadyClock,
    // Schedules use the database's clock.
    clockMonitorIntervalSeconds: 15,
    // How soon the jobs of a killed process are found.
    superviseIntervalSeconds: 15,
    monitorIntervalSeconds: 15,
    cronMonitorIntervalSeconds: 15,
    cronWorkerIntervalSeconds: 5
  })
  boss.on('error', logJobErrors(log))
  try {
    await saveQueues(adapter.db, log, options.queues)
    await boss.start()
    await adapter.listening
    if (worker) await removeOldSchedules(boss)
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {})
    throw error
  }
  const unwatchClock = worker ? watchClock(boss, CLOCK_MS) : () => {}
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
      unwatchClock()
      await boss.stop({ graceful: true, timeout: STOP_MS })
    }
  }
}

/** Makes the tables of the job queue, and these queues. */
export async function makeQueues(databaseUrl: string, log: Log, queues: JobQueue<object>[]): Promise<void> {
  const db = openDatabase(databaseUrl, { max: 1 })
  try {
    const jobs = await openJobs({ db, listenUrl: null, log, queues })
    await jobs.stop()
  } finally {
    await closeDatabase(db)
  }
}

/** The database as the job queue uses it. `listening` rejects if it cannot listen, without which it would only poll. */
function adapterOf({ db, listenUrl, log }: { db: Database; listenUrl: string | null; log: Log }) {
  const adapter: { db: Db; listening: Promise<unknown> } = {
    listening: Promise.resolve(),
    db: {
      executeSql: (text, values) => db.$client.query(text, values),
      async listen(channel, receive, missed) {
        const listening = keepListening({
          databaseUrl: listenUrl ?? '',
          channel,
          log,
          receive: payload => payload !== undefined && receive(payload),
          missed
        })
        adapter.listening = listening
        const opened = await listening
        missed()
        return { close: () => opened.stop() }
      }
    }
  }
  return adapter
}

/**
 * Removes the schedules of queues that earlier versions declared, because no worker takes their jobs. It goes by name:
 * an unknown queue may belong to a newer version that runs beside this one during an update.
 */
async function removeOldSchedules(boss: PgBoss): Promise<void> {
  for (const { name, key } of await boss.getSchedules()) if (RETIRED.has(name)) await boss.unschedule(name, key)
}

/**
 * Locks a waiting job until the transaction ends, because a worker that took it now would not see our writes. Returns
 * false if one already has; the caller then sends another job. The conditions are those of the queue's unique index.
 *
 * Workers skip a locked row, so our commit wakes them. Otherwise a popular job might be locked at every poll.
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

/**
 * Creates missing queues and updates those with other settings, by a queue client of its own. A client forgets a queue
 * that it updates, and its next job for that queue would look it up by a second connection while the transaction holds
 * one.
 */
async function saveQueues(db: Db, log: Log, queues: JobQueue<object>[]): Promise<void> {
  const boss = new PgBoss({ db, supervise: false, schedule: false, clock: steadyClock })
  boss.on('error', logJobErrors(log))
  try {
    await boss.start()
    const saved = new Map((await boss.getQueues()).map(one => [one.name, one]))
    for (const { name, options } of [{ name: DEAD_LETTER, options: {} }, ...queues]) {
      const before: Partial<Queue> | undefined = saved.get(name)
      const settings = withoutPolicy(options)
      const differs = Object.entries(settings).some(([key, value]) => before?.[key as keyof Queue] !== value)
      if (!before) await boss.createQueue(name, options)
      else if (differs) await boss.updateQueue(name, settings)
    }
  } finally {
    await boss.stop({ graceful: false }).catch(() => {})
  }
}

/** A queue's policy cannot change after its creation. */
function withoutPolicy({ policy: _policy, partition: _partition, ...settings }: Omit<Queue, 'name'>) {
  return settings
}

/** The job queue's clock. With the time of day, a process would stop polling while its clock is set back. */
const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: handle => clearTimeout(handle as NodeJS.Timeout),
  setInterval: (run, ms) => setInterval(run, ms),
  clearInterval: handle => clearInterval(handle as NodeJS.Timeout)
}

/**
 * After the database's clock is set back, polls and delayed jobs would wait until it catches up. This makes them due
 * now. Other rows are examined only if `cron_on`, the last cron check, is in the future.
 */
const END_FUTURE_TIMES = `
  with set_back as (
    update pgboss.version
    set cron_on = null, bam_on = null, flow_on = null, reindex_on = null, monitor_backoff_on = null
    where cron_on > now() + interval '1 minute' returning 1
  ), queues as (
    update pgboss.queue set monitor_on = null, monitor_claim_on = null, maintain_on = null
    where exists (select from set_back)
  ), slots as (
    update pgboss.job set singleton_on = null
    where exists (select from set_back) and singleton_on > now() at time zone 'UTC' and state = 'completed'
  )
  update pgboss.job set
    start_after = start_after - (greatest(created_on, started_on) - now()),
    created_on = least(created_on, now()), started_on = least(started_on, now()), heartbeat_on = least(heartbeat_on, now())
  where exists (select from set_back) and state in ('created', 'retry', 'active')
    and greatest(created_on, started_on, heartbeat_on) > now() + interval '1 minute'`

/** Makes due what waits for a future moment because the database's clock was set back. */
export async function endFutureTimes(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql(END_FUTURE_TIMES)
}

/** Checks regularly whether the database's clock was set back. @returns a function that stops the checks */
function watchClock(boss: PgBoss, everyMs: number): () => void {
  const timer = setInterval(() => {
    // Other code reports that the database is away.
    endFutureTimes(boss).catch(() => {})
  }, everyMs)
  return () => clearInterval(timer)
}

/** Urgent: a customer is waiting. Background: half a second of delay does no harm. */
export type Importance = 'urgent' | 'normal' | 'background'

/** How a process runs the jobs of each importance. */
type Yielding = Record<Importance, (work: () => Promise<void>) => Promise<void>>

/**
 * How long a background job yields at most (ms). Each worker does some background work even if urgent jobs never stop.
 */
const GIVE_WAY_MS = 500
/** An urgent job often leads to another one of the same order, such as the agent's after the payment's. */
const QUIET_MS = 50
const LOOK_MS = 25

/**
 * Delays background jobs of a process while urgent ones run and shortly after. Otherwise, in a burst of payments, the
 * mails and tags of the first orders would delay the last ones.
 */
export function createYielding({
  now = () => performance.now(),
  pause = (milliseconds: number): Promise<void> => sleep(milliseconds)
} = {}): Yielding {
  let running = 0
  let lastEnd = -Infinity
  const busy = () => running > 0 || now() - lastEnd < QUIET_MS
  return {
    async urgent(work) {
      running++
      try {
        await work()
      } finally {
        running--
        lastEnd = now()
      }
    },
    normal: work => work(),
    async background(work) {
      const deadline = now() + GIVE_WAY_MS
      while (busy() && now() < deadline) await pause(LOOK_MS)
      await work()
    }
  }
}

/** Kinds of errors that are counted separately. */
const MOST_KINDS = 20

/**
 * Logs errors of the job queue, each kind once a minute with its count: while the database is away, every worker fails
 * every second, which would push everything else out of the console's log.
 * @param now milliseconds of a clock that never goes back
 */
export function logJobErrors(log: Log, now: () => number = () => performance.now()): (error: unknown) => void {
  const logged = new Map<string, { at: number; more: number }>()
  return error => {
    const kind = kindOf(error)
    const last = logged.get(kind)
    if (last && now() - last.at < MINUTE) return void last.more++
    log.error({ err: asError(error), ...(last && last.more > 0 ? { more: last.more } : {}) }, 'job queue')
    logged.delete(kind)
    logged.set(kind, { at: now(), more: 0 })
    const [oldest] = logged.keys()
    if (logged.size > MOST_KINDS && oldest !== undefined) logged.delete(oldest)
  }
}

/** The code of the system or the database, because the message varies with the statement; otherwise the message. */
function kindOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message)
}

/** For a lost connection the queue reports an object that is no Error. Its other fields may quote data. */
function asError(error: unknown): Error {
  if (error instanceof Error) return error
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return new Error(String(message))
}
