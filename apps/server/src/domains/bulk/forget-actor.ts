import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { bulkRuns } from './tables.ts'

/** Removes an administrator's name and address from the runs that the administrator started. */
export async function forgetActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(bulkRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(bulkRuns.actorId, userId))
}
