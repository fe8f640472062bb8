import { sql } from '../infra/db/drizzle.ts'
import { PgBoss } from 'pg-boss'
import type { AppContext } from '../infra/context.ts'
import { AT_START, type Job } from '../infra/job.ts'

/** Runs a shop's jobs only when a test says so. */
export type JobRunner = {
  /**
   * Runs the jobs that are due by the shop's clock, one after the other, until none is left: by priority, then by age.
   * A failed job is due again after its pause.
   * @returns the queues of the jobs, in order
   */
  drain(): Promise<string[]>
  /** Runs what a worker runs at its start. */
  atStart(): Promise<void>
  close(): Promise<void>
}

export function createJobRunner(ctx: AppContext, jobs: readonly Job[]): JobRunner {
  const byName = new Map(jobs.map(job => [job.queue.name, job]))
  let boss: PgBoss | undefined
  let draining: Promise<string[]> | undefined

  async function open(): Promise<PgBoss> {
    if (boss) return boss
    boss = new PgBoss({ connectionString: ctx.config.databaseUrl, supervise: false, schedule: false, max: 2 })
    // Its connections may still be closing when the database is dropped.
    boss.on('error', () => undefined)
    return boss.start()
  }

  /** The queue of the next job. Jobs due by the shop's clock become due by the database's. */
  async function next(): Promise<string | undefined> {
    const names = sql.param([...byName.keys()])
    await ctx.db.execute(sql`
      update pgboss.job set start_after = now()
      where name = any(${names}::text[]) and state < 'active' and start_after > now() and start_after <= ${ctx.now()}`)
    const { rows } = await ctx.db.execute<{ name: string }>(sql`
      select name from pgboss.job
      where name = any(${names}::text[]) and state < 'active' and start_after <= now()
      order by priority desc, created_on, id limit 1`)
    return rows[0]?.name
  }

  async function run(): Promise<string[]> {
    const ran: string[] = []
    for (let name = await next(); name !== undefined; name = await next()) {
      const queue = await open()
      const [job] = await queue.fetch<object>(name)
      if (!job) continue
      ran.push(name)
      try {
        await byName.get(name)?.run(ctx, job.data as never, job.id)
        await queue.complete(name, job.id)
      } catch (error) {
        await queue.fail(name, job.id, { message: error instanceof Error ? error.message : String(error) })
      }
    }
    return ran
  }

  return {
    // One at a time: two would share the jobs in no fixed order.
    drain: () => (draining ??= run().finally(() => (draining = undefined))),
    async atStart() {
      for (const job of jobs) if (job.atStart) await job.run(ctx, {} as never, AT_START)
    },
    async close() {
      await draining?.catch(() => undefined)
      await boss?.stop({ graceful: false })
    }
  }
}
