import { refuse, type Tasks } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { discardDead } from '../../infra/dead-letters.ts'
import { lastRuns, nextRun, queueStates } from '../../infra/job-schedules.ts'
import type { Job } from '../../infra/job.ts'
import { ok, type Result } from '../../infra/result.ts'

/** Scheduled jobs with their last runs, and the backlog of every queue. */
export async function readTasks(ctx: Pick<AppContext, 'db' | 'now'>, jobs: readonly Job[]): Promise<Tasks> {
  const now = ctx.now()
  const scheduled = jobs.filter(job => job.cron !== undefined)
  const [runs, states] = await Promise.all([
    lastRuns(
      ctx.db,
      scheduled.map(job => job.queue.name)
    ),
    queueStates(ctx.db)
  ])
  return {
    schedules: scheduled.map(({ queue, purpose, cron = '' }) => {
      const { at = null, result = 'none', error = null, asked = false } = runs.get(queue.name) ?? {}
      const next = nextRun(cron, now)
      return {
        queue: queue.name,
        purpose,
        cron,
        next_run: next && iso(next),
        last: { at: isoOrNull(at), result, error },
        asked
      }
    }),
    queues: jobs.map(({ queue, purpose }) => {
      const { waiting = 0, later = 0, active = 0, dead = 0, oldest = null, finished = 0 } = states.get(queue.name) ?? {}
      return { queue: queue.name, purpose, waiting, later, active, dead, oldest: isoOrNull(oldest), finished }
    })
  }
}

/** Requests a run of a scheduled job. As with the schedule, at most one waits, so a repeat runs it once. */
export async function runNow(
  ctx: AppContext,
  by: Actor,
  jobs: readonly Job[],
  name: string
): Promise<Result<{ asked: boolean }>> {
  const job = jobs.find(one => one.queue.name === name && one.cron !== undefined)
  if (!job) return refuse('not_found')
  return command(ctx, by, async unit => {
    unit.jobs.send(job.queue, {}, { key: 'cron' })
    unit.audit('settings.run_job', name)
    return ok({ asked: true })
  })
}

/** Retries dead letters. Those that are gone, or that another call takes, are left out. */
export const retryDeadLetters = (ctx: AppContext, by: Actor, ids: string[]): Promise<Result<{ done: number }>> =>
  command(ctx, by, async unit => {
    const count = await ctx.jobs.retryDead(unit.tx, ids)
    if (count > 0) unit.audit('settings.retry_jobs', 'dead-letter', { after: { count, ids } })
    return ok({ done: count })
  })

/** Deletes dead letters. Those that are gone are left out. */
export const discardDeadLetters = (ctx: AppContext, by: Actor, ids: string[]): Promise<Result<{ done: number }>> =>
  command(ctx, by, async unit => {
    const count = await discardDead(unit.tx, ids)
    if (count > 0) unit.audit('settings.discard_jobs', 'dead-letter', { after: { count, ids } })
    return ok({ done: count })
  })
