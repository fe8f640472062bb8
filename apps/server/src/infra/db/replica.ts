import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { longReads } from '../metrics.ts'
import { closeDatabase, type Database, type Executor, openDatabase } from './client.ts'
import { sql } from './drizzle.ts'

/** How long a read waits for a replica that is late or does not answer (ms). */
const PATIENCE_MS = 250
/** How long reads stay with the primary after the replica was late or failed (ms). */
const REST_MS = 5000

type Options = { url: string; max: number; log: Log; patienceMs?: number }

/**
 * Waits until the replica has replayed all that the primary had committed when it was called.
 * @returns false if it had not by `until` (of `performance.now()`)
 * @throws if the replica does not answer, or is no replica of this primary
 */
export async function hasCaughtUp(primary: Executor, replica: Executor, until: number): Promise<boolean> {
  const { rows } = await primary.execute<{ position: string; cluster: string }>(sql`
    select pg_current_wal_flush_lsn()::text as position, (select system_identifier from pg_control_system())::text as cluster`)
  const [wanted] = rows
  if (!wanted) throw new Error('the primary returned no position')
  for (let pause = 2; ; pause *= 2) {
    const { rows: found } = await replica.execute<{ reached: boolean | null; cluster: string }>(sql`
      select pg_last_wal_replay_lsn() >= ${wanted.position}::pg_lsn as reached,
        (select system_identifier from pg_control_system())::text as cluster`)
    if (found[0]?.cluster !== wanted.cluster) throw new Error('it is a replica of another database')
    if (found[0].reached === null) throw new Error('it is no replica')
    if (found[0].reached) return true
    if (performance.now() + pause > until) return false
    await sleep(pause)
  }
}

/**
 * Lets `db.readLong` read from a streaming replica. A read sees all that was committed before it began, by any process:
 * it waits until the replica has replayed that. If the replica is late, gone, another database, or ends the read, the
 * primary answers.
 * @param options.url PostgreSQL itself, not a pooler
 * @param options.max connections at most
 * @returns closes the replica's connections
 */
export function useReplica(db: Database, { url, max, log, patienceMs = PATIENCE_MS }: Options) {
  const replica = openDatabase(url, { max, answerMs: 10_000 })
  let restUntil = 0

  function isCurrent(): Promise<boolean> {
    const current = hasCaughtUp(db, replica, performance.now() + patienceMs)
    // It may fail after the time is over.
    current.catch(() => {})
    return Promise.race([current, sleep(patienceMs, false, { ref: false })])
  }

  db.readLong = async read => {
    if (performance.now() >= restUntil) {
      try {
        if (await isCurrent()) {
          const result = await read(replica)
          longReads.inc({ from: 'replica' })
          return result
        }
        log.warn('the replica of the database is late; the primary is read')
      } catch (error) {
        log.warn({ err: error }, 'the replica of the database failed; the primary is read')
      }
      restUntil = performance.now() + REST_MS
    }
    longReads.inc({ from: 'primary' })
    return read(db)
  }
  return () => closeDatabase(replica)
}
