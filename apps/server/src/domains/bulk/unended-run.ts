import type { RunAction } from '@netlet/contract'
import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { RunInput } from './actions.ts'
import { bulkRuns } from './tables.ts'
import type { Unit } from '../../infra/command.ts'

/** Removes an administrator's name and address from the runs that the administrator started. */
export async function forgetActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(bulkRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(bulkRuns.actorId, userId))
}

/** @returns the id of any unfinished run of this action with this input; undefined if there is none */
export async function unendedRun(
  db: Executor,
  { action, input }: { action: RunAction; input: RunInput }
): Promise<number | undefined> {
  const same = and(eq(bulkRuns.action, action), sql`${bulkRuns.input} = ${JSON.stringify(input)}::jsonb`)
  const [run] = await db
    .select({ id: bulkRuns.id })
    .from(bulkRuns)
    .where(and(isNull(bulkRuns.endedAt), same))
    .limit(1)
  return run?.id
}
