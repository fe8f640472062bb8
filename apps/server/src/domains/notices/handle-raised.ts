import { and, eq, isNull, or } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import type { Raised } from './raise.ts'
import { notices } from './tables.ts'
import { isMuted, openTeller } from './tell.ts'

/**
 * Opens a notice that a command raised, or updates the open one of the same subject. A known occurrence changes
 * nothing, so a job that runs twice sends once.
 */
export async function handleRaised(ctx: AppContext, { at, ...raised }: Raised & { at: string }): Promise<void> {
  const { cause, subject, key, words, params } = raised
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const teller = await openTeller(unit)
    const { enabled, severity } = teller.rules.causes[cause]
    if (!enabled) return
    const known = await tx
      .select()
      .from(notices)
      .where(
        or(eq(notices.key, key), and(eq(notices.cause, cause), eq(notices.subject, subject), isNull(notices.closedAt)))
      )
    if (known.some(notice => notice.key === key)) return
    const told = { toldCount: 1, toldSeverity: severity, toldAt: now, changedAt: now, seenAt: now }
    // The search of each minute sends it when the mute ends.
    const untold = { ...told, toldSeverity: null }
    const says = { key, severity, words, params }
    const [open] = known
    const [row] = open
      ? await tx
          .update(notices)
          .set({ ...says, ...(isMuted(open, now) ? untold : told) })
          .where(eq(notices.id, open.id))
          .returning()
      : await tx
          .insert(notices)
          .values({ cause, subject, ...says, ...told, since: new Date(raised.since ?? at), createdAt: now })
          .returning()
    if (!row) throw new Error('the notice was not written')
    // If a search has just opened the notice, the command only adds better words.
    const isNews = !open || open.key !== null || open.toldAt === null
    if (isNews) teller.tell(row, open ? 'worse' : 'opened')
    await teller.send()
    unit.publish('notice', row.id)
  })
}
