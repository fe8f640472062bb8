import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../infra/db/client.ts'
import { LOCKS } from '../../infra/db/locks.ts'

type ServerLock = 'serverAgent' | 'serverProvisioning'

/**
 * Runs `work` while no other process does so for the same server and lock. The lock belongs to a database session, so it
 * ends with the process, however that dies.
 * @param waitMs how long to wait for another one to finish
 * @returns false where another one holds the lock; `work` did not run
 */
export async function withServerLock(
  db: Database,
  serverId: number,
  work: () => Promise<void>,
  { waitMs = 0, lock = 'serverAgent' }: { waitMs?: number; lock?: ServerLock } = {}
): Promise<boolean> {
  const deadline = Date.now() + waitMs
  while (!(await tryWithLock(db, LOCKS[lock], serverId, work))) {
    if (Date.now() >= deadline) return false
    // No connection is held while waiting: many callers could otherwise take all of them.
    await sleep(50)
  }
  return true
}

async function tryWithLock(
  db: Database,
  namespace: number,
  serverId: number,
  work: () => Promise<void>
): Promise<boolean> {
  const client = await db.$client.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
      namespace,
      serverId
    ])
    if (!rows[0]?.held) return false
    try {
      await work()
    } finally {
      await client
        .query('select pg_advisory_unlock($1, $2)', [namespace, serverId])
        .catch((error: Error) => (broken = error))
    }
    return true
  } finally {
    // A session that could not unlock is closed, which unlocks it.
    client.release(broken)
  }
}
