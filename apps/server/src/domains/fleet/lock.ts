import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../infra/db/client.ts'

/** Namespaces of the advisory locks on servers: who talks to the agent, and who installs it. */
const LOCKS = { agent: 7301, provisioning: 7302 }

/**
 * Runs `work` while no other process does so for the same server and purpose. The lock belongs to a database session, so it ends
 * with the process, however that dies.
 * @param waitMs how long to wait for another one to finish
 * @returns false where another one holds the lock; `work` did not run
 */
export async function withServerLock(
  db: Database,
  serverId: number,
  work: () => Promise<void>,
  { waitMs = 0, purpose = 'agent' }: { waitMs?: number; purpose?: keyof typeof LOCKS } = {}
): Promise<boolean> {
  const deadline = Date.now() + waitMs
  while (!(await tryWithLock(db, LOCKS[purpose], serverId, work))) {
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
