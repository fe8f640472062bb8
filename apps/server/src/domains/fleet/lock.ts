import type { Database } from '../../platform/db/client.ts'

/** Namespace of the advisory locks on servers. */
const SERVER_LOCK = 7301

/**
 * Runs `work` while no other process does so for the same server. The lock belongs to a database session, so it ends
 * with the process, however that dies.
 * @returns false where another one holds the lock; `work` did not run
 */
export async function withServerLock(db: Database, serverId: number, work: () => Promise<void>): Promise<boolean> {
  const client = await db.$client.connect()
  let broken: Error | undefined
  try {
    const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
      SERVER_LOCK,
      serverId
    ])
    if (!rows[0]?.held) return false
    try {
      await work()
    } finally {
      await client
        .query('select pg_advisory_unlock($1, $2)', [SERVER_LOCK, serverId])
        .catch((error: Error) => (broken = error))
    }
    return true
  } finally {
    // A session that could not unlock is closed, which unlocks it.
    client.release(broken)
  }
}
