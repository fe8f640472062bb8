import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './client.ts'
import { LOCKS, type Lock } from './locks.ts'

/** What the work under a lock gave back; `ran` is false where another one kept the lock. */
type Locked<T> = { ran: true; value: T } | { ran: false }

/**
 * Runs `work`, which may talk to others than the database, while no other process does so under the same lock. The lock
 * belongs to a database session of its own, so it ends with the process, however that dies.
 * @param waitMs how long to wait for another one to finish
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
    // No connection is held while waiting: many callers could otherwise take all of them.
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
    // A session that could not unlock is closed, which unlocks it.
    client.release(broken)
  }
}
