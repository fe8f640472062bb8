import { and, asc, eq, gt, inArray, isNull, lt, lte, notExists, or, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { readRules } from './rules.ts'
import { noticeChannels, notices, noticeSends } from './tables.ts'
import { enqueueSends } from './tell.ts'
import { localTime } from './bundle.ts'

/** How many notices a digest lists, the most severe first. */
const MOST = 50

/**
 * Once a day, at the configured hour or as soon after it as a worker runs: each channel gets what has opened, got worse
 * or ended since its last digest, except for immediate messages. The channel's row stores the day.
 */
export async function sendDigests(ctx: AppContext): Promise<void> {
  const rules = await readRules(ctx.db)
  const { day, hour } = localTime(ctx.now(), rules.time_zone)
  if (hour < rules.digest_hour) return
  const isDue = and(
    eq(noticeChannels.enabled, true),
    eq(noticeChannels.digest, true),
    // A change of the time zone may go back a day. Its notices then come with the next day's digest.
    or(isNull(noticeChannels.digestDay), lt(noticeChannels.digestDay, day))
  )
  if ((await ctx.db.$count(noticeChannels, isDue)) === 0) return
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    const due = await tx.select().from(noticeChannels).where(isDue).orderBy(asc(noticeChannels.id)).for('update')
    for (const { id: channelId, digestUntil } of due) {
      const toldThere = tx
        .select({ one: sql`1` })
        .from(noticeSends)
        .where(
          and(
            eq(noticeSends.noticeId, notices.id),
            eq(noticeSends.channelId, channelId),
            inArray(noticeSends.state, ['waiting', 'sent'])
          )
        )
      const rest = and(
        gt(notices.changedAt, digestUntil),
        lte(notices.changedAt, now),
        or(isNull(notices.mutedUntil), lte(notices.mutedUntil, now)),
        notExists(toldThere)
      )
      const rows = await tx
        .select({ id: notices.id })
        .from(notices)
        .where(rest)
        .orderBy(sql`array_position(array['critical', 'warning', 'info'], ${notices.severity})`, asc(notices.id))
        .limit(MOST)
      await tx.update(noticeChannels).set({ digestDay: day, digestUntil: now }).where(eq(noticeChannels.id, channelId))
      if (rows.length === 0) continue
      const more = rows.length < MOST ? 0 : (await tx.$count(notices, rest)) - MOST
      const noticeIds = rows.map(({ id }) => id)
      const key = `digest:${day}:${channelId}`
      await enqueueSends(unit, [{ channelId, key, telling: 'digest', noticeIds, more, dueAt: now, createdAt: now }])
    }
  })
}
