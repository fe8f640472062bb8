import type { AppContext } from './context.ts'
import type { Importance, JobQueue } from './jobs.ts'
import { timedJob } from './metrics.ts'

/** Job id of a run at the start of a worker. */
export const AT_START = 'start'

/** One kind of background work, declared by the domain that does it. docs/JOBS.md is generated from these. */
export type Job = {
  queue: JobQueue<object>
  /** A sentence for operators of the shop. */
  purpose: string
  /** When it runs by itself (UTC), once across all processes. */
  cron?: string
  /** Jobs of this kind that one process runs at once. */
  concurrency: number
  /** Additional workers for urgent jobs only (`URGENT` in jobs.ts). */
  reserved: number
  /** How many jobs of one group, such as a customer, run at once in one process. */
  perGroup?: 1
  /** Urgent if a customer waits for it; background work yields to urgent work. */
  importance: Importance
  /** Also runs when a worker starts, to finish what a process that died left behind. */
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

export const job = <T extends object>(from: JobQueue<T>, options: JobOptions<T>): Job => ({
  queue: from,
  concurrency: 1,
  reserved: 0,
  importance: 'normal',
  atStart: false,
  ...options
})

/** Starts this process's workers. Resolves after the jobs with `atStart` have run. */
export async function startJobs(ctx: AppContext, all: readonly Job[]): Promise<void> {
  for (const { queue: from, cron, concurrency, reserved, perGroup, importance, run } of all) {
    await ctx.jobs.work(from, async (data, id) => void (await timedJob(from.name, () => run(ctx, data as never, id))), {
      concurrency,
      reserved,
      importance,
      ...(perGroup === undefined ? {} : { perGroup })
    })
    if (cron) await ctx.jobs.schedule(from, cron)
  }
  for (const { atStart, run } of all) if (atStart) await run(ctx, {} as never, AT_START)
}
