import { refuse } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { done, type Result } from '../../infra/result.ts'
import type { NoticeFinder } from './found.ts'
import { notices } from './tables.ts'

/**
 * Acknowledges a notice: it is not sent again unless it gets worse or ends. A notice without a finder ends with it. A
 * repeat changes nothing and keeps the first person's name.
 */
export const acknowledgeNotice = (
  ctx: AppContext,
  by: UserActor,
  finders: readonly NoticeFinder[],
  id: number
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const [notice] = await tx.select().from(notices).where(eq(notices.id, id))
    if (!notice) return refuse('not_found')
    if (notice.acknowledgedAt !== null) return done
    const isSearched = finders.some(({ cause }) => cause === notice.cause)
    const ended = isSearched || notice.closedAt !== null ? {} : { closedAt: now, changedAt: now }
    const { username } = by.impersonator ?? by
    await tx
      .update(notices)
      .set({ acknowledgedAt: now, acknowledgedBy: username, ...ended })
      .where(eq(notices.id, id))
    unit.audit('notice.acknowledge', id, { after: { cause: notice.cause, subject: notice.subject } })
    return done
  })

/** Mutes an open notice for some hours, including its end; 0 unmutes it. */
export const muteNotice = (ctx: AppContext, by: UserActor, id: number, hours: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const [notice] = await tx.select().from(notices).where(eq(notices.id, id))
    if (!notice) return refuse('not_found')
    if (notice.closedAt !== null) return refuse('already_over')
    const mutedUntil = hours === 0 ? null : new Date(now.getTime() + hours * HOUR)
    await tx.update(notices).set({ mutedUntil }).where(eq(notices.id, id))
    unit.audit('notice.mute', id, { after: { cause: notice.cause, subject: notice.subject, hours } })
    return done
  })
