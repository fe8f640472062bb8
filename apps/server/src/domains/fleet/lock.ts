import type { Database } from '../../infra/db/client.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'

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
  const { ran } = await withSessionLock(db, lock, serverId, work, { waitMs })
  return ran
}
