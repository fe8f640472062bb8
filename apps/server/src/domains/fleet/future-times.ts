import { and, gt, isNull, or, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { LONGEST_PAUSE_S, type SyncContext } from './agents.ts'
import { enqueueTry } from './converge-turns.ts'
import { accessProofs, serverOutages, servers } from './tables.ts'

/**
 * A clock that ran ahead leaves times in the future: since when a server is silent, its next try, the start of its
 * outage. Everything that counts from them would wait until then, so they are set to now. Times less than a minute
 * ahead stay: another check that runs at the same moment wrote them, or the clock is slightly off.
 */
export const endFutureTimes = (ctx: SyncContext): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    const now = sql`${unit.now.toISOString()}::timestamptz`
    const soon = new Date(unit.now.getTime() + MINUTE)
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
    // The job of the next try waits for the old time too.
    for (const { id } of found) enqueueTry(unit, id)
    // A cancellation in the future would also cancel installations requested since.
    await tx.update(servers).set({ provisioningCancelledAt: unit.now }).where(gt(servers.provisioningCancelledAt, soon))
    await tx.update(servers).set({ nextProofAt: null }).where(gt(servers.nextProofAt, soon))
    // No proof waits longer than an hour for its next try.
    await tx
      .update(accessProofs)
      .set({ nextAt: unit.now })
      .where(gt(accessProofs.nextAt, new Date(soon.getTime() + HOUR)))
    const begunLater = gt(serverOutages.startedAt, soon)
    // An outage entirely in the future is deleted. If its server is still silent, the next check opens one.
    await tx.delete(serverOutages).where(and(begunLater, gt(serverOutages.endedAt, now)))
    await tx
      .update(serverOutages)
      .set({ startedAt: unit.now })
      .where(and(begunLater, isNull(serverOutages.endedAt)))
  })
