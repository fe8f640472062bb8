import { and, gt, isNull, or, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { LONGEST_PAUSE_S, type SyncContext } from './agents.ts'
import { enqueueTry } from './converge-turns.ts'
import { accessProofs, serverOutages, servers } from './tables.ts'

/**
 * A clock that was ahead for a while leaves times of the future behind: since when a server answers nothing, when it or old
 * credentials are tried next, when its outage began. Whatever waits for so much time to pass would wait until then, so that they begin
 * now. Times of the next moments are those of another check that runs at the same time, or of a clock that is nearly
 * right.
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
    // The job of its next try waits until then as well.
    for (const { id } of found) enqueueTry(unit, id)
    // What was asked for since then is not cancelled.
    await tx.update(servers).set({ provisioningCancelledAt: unit.now }).where(gt(servers.provisioningCancelledAt, soon))
    await tx.update(servers).set({ nextProofAt: null }).where(gt(servers.nextProofAt, soon))
    // None waits longer than an hour for its next try.
    await tx
      .update(accessProofs)
      .set({ nextAt: unit.now })
      .where(gt(accessProofs.nextAt, new Date(soon.getTime() + HOUR)))
    const begunLater = gt(serverOutages.startedAt, soon)
    // What ended before it began here; the check of a server that is still silent opens another one.
    await tx.delete(serverOutages).where(and(begunLater, gt(serverOutages.endedAt, now)))
    await tx
      .update(serverOutages)
      .set({ startedAt: unit.now })
      .where(and(begunLater, isNull(serverOutages.endedAt)))
  })
