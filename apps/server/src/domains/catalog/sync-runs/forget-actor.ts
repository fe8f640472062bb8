import { eq } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import { syncRuns } from './tables.ts'

/** Takes the name and the address of an administrator out of the syncs that they asked for. */
export async function forgetSyncActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(syncRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(syncRuns.actorId, userId))
}
