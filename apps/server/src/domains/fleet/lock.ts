import type { Database } from '../../infra/db/client.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'

type ServerLock = 'serverAgent' | 'serverProvisioning'

/**
 * Runs `work` while no other process holds this lock of the server. A database session holds the lock, so it ends with
 * the process, even after a crash.
 * @param waitMs how long to wait for another holder
 * @returns false if another process holds the lock; `work` did not run
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
