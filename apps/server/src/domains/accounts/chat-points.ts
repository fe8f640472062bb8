import { createHmac } from 'node:crypto'
import { refuse, type BodyOf, type routes } from '@netlet/contract'
import { and, eq, sql } from 'drizzle-orm'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { transact } from '../../infra/db/transact.ts'
import { ok, type Result } from '../../infra/result.ts'
import { sameText } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { grantPoints } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { chatEvents, chatPoints, users } from './tables.ts'

/** Reports are remembered a little longer than they may be old: an old one cannot count again. */
const OLDEST_REPORT = DAY
export const REPORTS_KEPT = 2 * DAY

type Report = BodyOf<typeof routes.accounts.botWebhook>

/**
 * Counts a chat message that the bot reports: coins for each message, up to the day's most, in the channels of the
 * settings (all of them where none is named). A report counts once. `signature` is the body's HMAC-SHA256 in hex, the
 * bot's token being the key.
 */
export async function rewardChatMessage(
  ctx: Pick<AppContext, 'db' | 'now' | 'secrets'>,
  report: Report,
  { rawBody, signature }: { rawBody: Buffer; signature: unknown }
): Promise<Result<{ granted: number }>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const token = settings.discord_bot_token
  if (!token || typeof signature !== 'string') return refuse('bad_signature')
  if (!sameText(signature.toLowerCase(), createHmac('sha256', token).update(rawBody).digest('hex')))
    return refuse('bad_signature')
  const now = ctx.now()
  const at = new Date(report.at)
  if (at.getTime() < now.getTime() - OLDEST_REPORT || at.getTime() > now.getTime() + 5 * MINUTE) {
    const msg = 'at must lie within the last 24 hours'
    return refuse('invalid', { msg, data: { errors: { at: msg } } })
  }
  const channels = settings.discord_bot_channels.split(/[\s,]+/).filter(Boolean)
  const counts = channels.length === 0 || channels.includes(report.channel_id)
  return transact(ctx.db, async tx => {
    const seen = await tx
      .insert(chatEvents)
      .values({ eventId: report.event_id, receivedAt: now })
      .onConflictDoNothing()
      .returning()
    if (seen.length === 0 || !counts) return ok({ granted: 0 })
    const [user] = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.discordId, report.discord_id), eq(users.isActive, true)))
      .for('update')
    if (!user) return ok({ granted: 0 })
    const day = at.toISOString().slice(0, 10)
    const most = settings.discord_bot_max_points_per_day
    const before = await tx
      .select({ granted: chatPoints.granted })
      .from(chatPoints)
      .where(and(eq(chatPoints.userId, user.id), eq(chatPoints.day, day)))
    const granted = Math.max(0, Math.min(settings.discord_bot_points_per_message, most - (before[0]?.granted ?? 0)))
    if (granted === 0) return ok({ granted })
    await tx
      .insert(chatPoints)
      .values({ userId: user.id, day, granted })
      .onConflictDoUpdate({
        target: [chatPoints.userId, chatPoints.day],
        set: { granted: sql`${chatPoints.granted} + ${granted}` }
      })
    const cause = `chat:${report.event_id}`
    await grantPoints(tx, { userId: user.id, kind: 'coins', point: granted, reason: 'Chat message', cause, now })
    return ok({ granted })
  })
}
