import type { Clock, PgBoss } from 'pg-boss'

/**
 * What the queue measures its waits by. By the time of day, a process whose clock is set back would look for no job, and for nothing
 * that is due, until it is as late again.
 */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: handle => clearTimeout(handle as NodeJS.Timeout),
  setInterval: (run, ms) => setInterval(run, ms),
  clearInterval: handle => clearInterval(handle as NodeJS.Timeout)
}

/**
 * Where the clock of the database was set back, each look at what is due would find that the last one is still to come, and jobs that wait
 * for a moment would wait for as much longer. So they begin now. The first row is that of all last looks, the one for jobs
 * by the clock four times a minute: while that is right, nothing else is looked at.
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

/** Where the database's clock was set back, makes due what would wait for it to be as late again. */
export async function endFutureTimes(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql(END_FUTURE_TIMES)
}

/** Looks from time to time whether the database's clock was set back. @returns ends it */
export function followClock(boss: PgBoss, everyMs: number): () => void {
  const timer = setInterval(() => {
    // While the database is away, others report it.
    endFutureTimes(boss).catch(() => {})
  }, everyMs)
  return () => clearInterval(timer)
}
