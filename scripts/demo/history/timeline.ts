import type { AppContext } from '../../../apps/server/src/infra/context.ts'
import { HOUR, MINUTE } from '../../../apps/server/src/infra/clock.ts'
import type { Job } from '../../../apps/server/src/infra/job.ts'
import type { Jobs, JobQueue } from '../../../apps/server/src/infra/jobs.ts'
import type { MovedClock } from './clock.ts'

type Act = () => Promise<unknown>
type Step = { due: number; nth: number; act: Act; job?: WaitingJob }
type WaitingJob = { queue: JobQueue<object>; data: object; key: string | undefined; tries: number }

/** More tries than anything in the history needs: it would be a mistake of the shop or of the story. */
const MOST_TRIES = 12

/**
 * What happens when: the story's acts and the shop's jobs, one after the other by the moved clock. Each job runs by
 * the shop's own handler, so long after it was asked for as a worker would have needed.
 */
export function createTimeline({
  clock,
  jobs,
  delay,
  queue: real
}: {
  clock: MovedClock
  jobs: readonly Job[]
  /** Milliseconds from the request of a job until a worker takes it up. */
  delay: (queue: string) => number
  /** Takes over what is still to do at the end. */
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
    /** Does something at a time of the history, or at once where that has passed. */
    at(time: Date | number, act: Act): void {
      add({ due: Number(time), act })
    },

    /** Runs jobs that go by the clock, at one time. */
    tick(ctx: AppContext, time: number, names: readonly string[]): void {
      add({
        due: time,
        async act() {
          for (const name of names) await handlers.get(name)?.run(ctx, {} as never, 'history')
        }
      })
    },

    /** Lets everything happen that is due before `end`. */
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

    /** Gives the jobs whose time has not come to the shop's queue. @returns how many */
    async handOver(ctx: Pick<AppContext, 'db'>): Promise<number> {
      const left = steps.splice(0).flatMap(({ due, job }) => (job ? [{ due, job }] : []))
      for (const { due, job } of left) {
        const startIn = Math.max(0, due - Date.now())
        const key = job.key === undefined ? {} : { key: job.key }
        await ctx.db.transaction(tx => real.send(tx, job.queue, job.data, { ...key, startIn }))
      }
      return left.length
    },

    /**
     * Jobs as commands send them. They are sent last in a command's transaction, and commands run one after the other
     * here: none is undone after it.
     */
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

/** Every so often from `start` to `end`. In milliseconds since 1970. */
export function* times(start: number, end: number, step = HOUR): Generator<number> {
  for (let at = start; at < end; at += step) yield at
}
