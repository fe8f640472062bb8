import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './client.ts'
import { LOCKS, type Lock } from './locks.ts'

/** The result of work under a lock; `ran` is false if another holder kept the lock. */
type Locked<T> = { ran: true; value: T } | { ran: false }

/**
 * Runs `work` under a lock across all processes. `work` may use other services than the database. The lock belongs to
 * a database session of this process, so it ends when the process dies.
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
    await sleep(50)
  }
}

async function tryWithLock<T>(
  { lockSession }: Pick<Database, 'lockSession'>,
  namespace: number,
  key: number,
  work: () => Promise<T>
): Promise<Locked<T>> {
  const name = `${namespace} ${key}`
  if (lockSession.held.has(name)) return { ran: false }
  lockSession.held.add(name)
  try {
    return await lockSession.use(async query => {
      const { rows } = await query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [namespace, key])
      if (!rows[0]?.held) return { ran: false }
      try {
        return { ran: true, value: await work() }
      } finally {
        // If this fails, the session is lost, and its locks with it.
        await query('select pg_advisory_unlock($1, $2)', [namespace, key]).catch(() => {})
      }
    })
  } finally {
    lockSession.held.delete(name)
  }
}
