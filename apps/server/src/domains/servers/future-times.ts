import { and, gt, isNull, or, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { LONGEST_PAUSE_S } from './agent-health.ts'
import { serverOutages, servers } from './tables.ts'

/**
 * Sets times after `soon` to now, which a clock that ran ahead has left: since when a server is silent, its next tries,
 * the start of its outage.
 * @returns servers whose next try was too late
 */
export async function endFutureTimesOfServers({ tx, now: at }: Unit, soon: Date): Promise<number[]> {
  const now = sql`${at.toISOString()}::timestamptz`
  const [silent, failing] = [gt(servers.unreachableSince, soon), gt(servers.failingSince, soon)]
  const tooLate = gt(servers.nextTryAt, sql`${now} + ${LONGEST_PAUSE_S} * interval '1 second'`)
  const found = await tx
    .update(servers)
    .set({
      unreachableSince: sql`case when ${silent} then ${now} else ${servers.unreachableSince} end`,
      failingSince: sql`case when ${failing} then ${now} else ${servers.failingSince} end`,
      nextTryAt: null
    })
    .where(and(isNull(servers.deletedAt), or(silent, failing, tooLate)))
    .returning({ id: servers.id })
  // A cancellation in the future would also cancel installations requested since.
  await tx.update(servers).set({ provisioningCancelledAt: at }).where(gt(servers.provisioningCancelledAt, soon))
  await tx.update(servers).set({ nextProofAt: null }).where(gt(servers.nextProofAt, soon))
  const begunLater = gt(serverOutages.startedAt, soon)
  // An outage entirely in the future is deleted. If its server is still silent, the next check opens one.
  await tx.delete(serverOutages).where(and(begunLater, gt(serverOutages.endedAt, now)))
  await tx
    .update(serverOutages)
    .set({ startedAt: at })
    .where(and(begunLater, isNull(serverOutages.endedAt)))
  return found.map(({ id }) => id)
}
