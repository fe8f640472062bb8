import { eq } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import { syncRuns } from './tables.ts'

/** Removes an administrator's name and address from the syncs that the administrator started. */
export async function forgetSyncActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(syncRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(syncRuns.actorId, userId))
}
