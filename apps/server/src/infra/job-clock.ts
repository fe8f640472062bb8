import type { Clock, PgBoss } from 'pg-boss'

/** The job queue's clock. With the time of day, a process would stop polling while its clock is set back. */
export const steadyClock: Clock = {
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
export function watchClock(boss: PgBoss, everyMs: number): () => void {
  const timer = setInterval(() => {
    // Other code reports that the database is away.
    endFutureTimes(boss).catch(() => {})
  }, everyMs)
  return () => clearInterval(timer)
}
