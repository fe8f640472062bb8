import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './client.ts'
import { LOCKS, type Lock } from './locks.ts'

/** The result of work under a lock; `ran` is false if another holder kept the lock. */
type Locked<T> = { ran: true; value: T } | { ran: false }

/**
 * Runs `work` under a lock across all processes. `work` may use other services than the database. The lock belongs to
 * its own database session, so it ends when the process dies.
 * @param waitMs how long to wait for another holder
 */
export async function withSessionLock<T>(
  db: Database,
  name: Lock,
  key: number,
  work: () => Promise<T>,
  { waitMs = 0 }: { waitMs?: number } = {}
): Promise<Locked<T>> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const done = await tryWithLock(db, LOCKS[name], key, work)
    if (done.ran || performance.now() >= deadline) return done
    // Waits without a connection, so that many callers do not exhaust the pool.
    await sleep(50)
  }
}

async function tryWithLock<T>(
  db: Database,
  namespace: number,
  key: number,
  work: () => Promise<T>
): Promise<Locked<T>> {
  const client = await db.$client.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
      namespace,
      key
    ])
    if (!rows[0]?.held) return { ran: false }
    try {
      return { ran: true, value: await work() }
    } finally {
      await client
        .query('select pg_advisory_unlock($1, $2)', [namespace, key])
        .catch((error: Error) => (broken = error))
    }
  } finally {
    // If the unlock failed, closing the session unlocks it.
    client.release(broken)
  }
}
