import type { AppContext } from './context.ts'
import type { Importance } from './job-yielding.ts'
import type { JobQueue } from './jobs.ts'

/** Instead of a job's id where a worker runs it as it starts. */
export const AT_START = 'start'

/**
 * One kind of background work, declared once by the domain that does it: its queue, what it is for, when it runs by
 * itself, and what it does. docs/JOBS.md is made of these.
 */
export type Job = {
  queue: JobQueue<object>
  /** A sentence for people who operate the shop. */
  purpose: string
  /** When it runs without being asked (UTC), once over all processes. */
  cron?: string
  /** Jobs of this kind that one process works on at once. */
  concurrency: number
  /** So many more, for urgent ones only (`URGENT` in jobs.ts). */
  reserved: number
  /** How many of one group, such as a customer, run at once in one process. */
  perGroup?: 1
  /** Urgent where a customer waits for it; background work gives way to that. */
  importance: Importance
  /** Also runs when a worker starts: it takes up what a process that died left behind. */
  atStart: boolean
  run: (ctx: AppContext, data: never, jobId: string) => Promise<unknown>
}

type JobOptions<T extends object> = {
  purpose: string
  cron?: string
  concurrency?: number
  reserved?: number
  perGroup?: 1
  importance?: Importance
  atStart?: boolean
  run: (ctx: AppContext, data: T, jobId: string) => Promise<unknown>
}

/** Declares the work of a queue. */
export const job = <T extends object>(from: JobQueue<T>, options: JobOptions<T>): Job => ({
  queue: from,
  concurrency: 1,
  reserved: 0,
  importance: 'normal',
  atStart: false,
  ...options
})

/** Lets this process work on jobs; those that run at the start have run when it returns. */
export async function startJobs(ctx: AppContext, all: readonly Job[]): Promise<void> {
  for (const { queue: from, cron, concurrency, reserved, perGroup, importance, run } of all) {
    await ctx.jobs.work(from, async (data, id) => void (await run(ctx, data as never, id)), {
      concurrency,
      reserved,
      importance,
      ...(perGroup === undefined ? {} : { perGroup })
    })
    if (cron) await ctx.jobs.schedule(from, cron)
  }
  for (const { atStart, run } of all) if (atStart) await run(ctx, {} as never, AT_START)
}
