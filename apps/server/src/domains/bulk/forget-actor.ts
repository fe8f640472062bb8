import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { bulkRuns } from './tables.ts'

/** Takes the name and the address of an administrator out of the runs that they asked for. */
export async function forgetActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(bulkRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(bulkRuns.actorId, userId))
}
