import { Client } from 'pg'
import { HOUR, MINUTE } from '../../../apps/server/src/infra/clock.ts'
import type { AppContext } from '../../../apps/server/src/infra/context.ts'
import type { Job } from '../../../apps/server/src/infra/job.ts'
import type { JobQueue, Jobs } from '../../../apps/server/src/infra/jobs.ts'

type Act = () => Promise<unknown>
type Step = { due: number; nth: number; act: Act; job?: WaitingJob }
type WaitingJob = { queue: JobQueue<object>; data: object; key: string | undefined; tries: number }

/** More than any job of the history needs, so a mistake in the shop or the story. */
const MOST_TRIES = 12

/**
 * The story's acts and the shop's jobs, run one at a time by the moved clock. Each job runs through the shop's own
 * handler, after the delay that a worker would have had.
 */
export function createTimeline({
  clock,
  jobs,
  delay,
  queue: real
}: {
  clock: MovedClock
  jobs: readonly Job[]
  /** Milliseconds from a job's request to its start. */
  delay: (queue: string) => number
  /** Receives the jobs left at the end. */
  queue: Jobs
}) {
  const steps: Step[] = []
  const handlers = new Map(jobs.map(job => [job.queue.name, job]))
  let count = 0

  function add(step: Omit<Step, 'nth'>): void {
    steps.push({ ...step, nth: count++ })
  }

  async function run(ctx: AppContext, { act, job }: Step): Promise<void> {
    if (!job) return void (await act())
    try {
      await handlers.get(job.queue.name)?.run(ctx, job.data as never, `history-${count}`)
    } catch (error) {
      if (job.tries >= MOST_TRIES) throw error
      const due = clock.now().getTime() + Math.min(2 ** job.tries * 1000, 10 * MINUTE)
      add({ due, act, job: { ...job, tries: job.tries + 1 } })
    }
  }

  return {
    /** Runs an act at a time of the history, or at once if that has passed. */
    at(time: Date | number, act: Act): void {
      add({ due: Number(time), act })
    },

    /** Runs scheduled jobs at one time. */
    tick(ctx: AppContext, time: number, names: readonly string[]): void {
      add({
        due: time,
        async act() {
          for (const name of names) await handlers.get(name)?.run(ctx, {} as never, 'history')
        }
      })
    },

    /** Runs everything due before `end`. */
    async play(ctx: AppContext, end: Date): Promise<void> {
      for (;;) {
        steps.sort((a, b) => a.due - b.due || a.nth - b.nth)
        const next = steps[0]
        if (!next || next.due > end.getTime()) break
        steps.shift()
        await clock.moveTo(new Date(next.due))
        await run(ctx, next)
      }
      await clock.moveTo(end)
    },

    /** Moves the remaining jobs to the shop's queue. @returns how many */
    async handOver(ctx: Pick<AppContext, 'db'>): Promise<number> {
      const left = steps.splice(0).flatMap(({ due, job }) => (job ? [{ due, job }] : []))
      for (const { due, job } of left) {
        const startIn = Math.max(0, due - Date.now())
        const key = job.key === undefined ? {} : { key: job.key }
        await ctx.db.transaction(tx => real.send(tx, job.queue, job.data, { ...key, startIn }))
      }
      return left.length
    },

    /** Commands send jobs last in their transaction and run one at a time here, so no send is rolled back. */
    jobs: {
      ...real,
      async send(_tx, queue, data, { key, startIn = 0 } = {}) {
        const waits = steps.some(({ job }) => key !== undefined && job?.queue.name === queue.name && job.key === key)
        if (waits) return null
        const due = clock.now().getTime() + startIn + delay(queue.name)
        add({ due, act: async () => {}, job: { queue, data, key, tries: 0 } })
        return `history-${count}`
      }
    } satisfies Jobs
  }
}

/** Times from `start` to `end`. In milliseconds since 1970. */
export function* times(start: number, end: number, step = HOUR): Generator<number> {
  for (let at = start; at < end; at += step) yield at
}

/** The history's time, for the shop's programs and its database. */
type MovedClock = {
  now: () => Date
  /** Only forward. */
  moveTo(at: Date): Promise<void>
  /** Gives the database its own clock again. */
  release(): Promise<void>
}

const TABLE = 'inventory.moved_clock'

/** Makes `inventory.clock()` return the history's time. Everything else receives the time from its caller. */
export async function moveClock(databaseUrl: string, start: Date): Promise<MovedClock> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ own: string }>(`select pg_get_functiondef('inventory.clock'::regproc) as own`)
  let at = start
  let released = false
  await client.query(`create table ${TABLE} as select $1::timestamptz as at`, [at])
  await client.query(
    `create or replace function inventory.clock() returns timestamptz language sql as 'select at from ${TABLE}'`
  )
  return {
    now: () => at,
    async moveTo(next) {
      if (next <= at) return
      at = next
      await client.query(`update ${TABLE} set at = $1`, [at])
    },
    async release() {
      if (released) return
      released = true
      await client.query(rows[0]?.own ?? '')
      await client.query(`drop table ${TABLE}`)
      // Analyse now: until autovacuum does, the planner would guess the sizes of the tables.
      await client.query('analyze')
      await client.end()
    }
  }
}
