import type { Executor } from '../../infra/db/client.ts'
import { settings } from './tables.ts'

const KEY = 'restored_from_backup'

/** When the backup was made and when it was restored. */
export type Restored = { backupAt: Date; restoredAt: Date }

/** Marks a database that was restored from a backup: what was sold since then is on the platform, but not in it. */
export async function markRestored(tx: Executor, { backupAt, restoredAt }: Restored): Promise<void> {
  const value = { backup_at: backupAt.toISOString(), restored_at: restoredAt.toISOString() }
  await tx
    .insert(settings)
    .values({ key: KEY, value, updatedAt: restoredAt })
    .onConflictDoUpdate({ target: settings.key, set: { value, updatedAt: restoredAt } })
}
