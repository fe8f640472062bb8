import { createHmac } from 'node:crypto'
import { refusals, refuse, type BodyOf, type routes } from '@netlet/contract'
import { and, eq, sql } from 'drizzle-orm'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { Config } from '../../infra/config.ts'
import { ok, type Result } from '../../infra/result.ts'
import { sameText } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockUserOfDiscord } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import { grantPoints } from './grant.ts'
import { maturity } from './pending-coins.ts'
import { chatAccountPoints, chatEvents, chatPoints } from './tables.ts'

/** Reports are remembered a little longer than that, see retention.ts: an old one cannot count again. */
const OLDEST_REPORT = DAY

type Report = BodyOf<typeof routes.rewards.botWebhook>

/**
 * Counts a chat message that the bot reports: coins for each message, up to the day's most of the user and of the chat
 * account, in the channels of the settings (all of them where none is named). A report counts once. `signature` is the body's HMAC-SHA256 in hex, the
 * bot's token being the key.
 */
export async function rewardChatMessage(
  ctx: AppContext,
  by: Actor,
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
  if (at.getTime() < now.getTime() - OLDEST_REPORT || at.getTime() > now.getTime() + 5 * MINUTE)
    return refuse('report_too_old', { data: { errors: { at: refusals.report_too_old[1] } } })
  const channels = settings.discord_bot_channels.split(/[\s,]+/).filter(Boolean)
  const counts = channels.length === 0 || channels.includes(report.channel_id)
  return command(ctx, by, async unit => {
    const { tx } = unit
    const seen = await tx
      .insert(chatEvents)
      .values({ eventId: report.event_id, receivedAt: now })
      .onConflictDoNothing()
      .returning()
    if (seen.length === 0 || !counts) return ok({ granted: 0 })
    const userId = await lockUserOfDiscord(tx, report.discord_id)
    if (userId === undefined) return ok({ granted: 0 })
    const day = at.toISOString().slice(0, 10)
    const most = settings.discord_bot_max_points_per_day
    // One user with one chat account after the other, or one chat account with one user after the other: each has one day.
    const account = accountHash(ctx.config, report.discord_id)
    const [ofUser] = await tx
      .select({ granted: chatPoints.granted })
      .from(chatPoints)
      .where(and(eq(chatPoints.userId, userId), eq(chatPoints.day, day)))
    const [ofAccount] = await tx
      .select({ granted: chatAccountPoints.granted })
      .from(chatAccountPoints)
      .where(and(eq(chatAccountPoints.account, account), eq(chatAccountPoints.day, day)))
    const left = most - Math.max(ofUser?.granted ?? 0, ofAccount?.granted ?? 0)
    const granted = Math.max(0, Math.min(settings.discord_bot_points_per_message, left))
    if (granted === 0) return ok({ granted })
    await tx
      .insert(chatPoints)
      .values({ userId, day, granted })
      .onConflictDoUpdate({
        target: [chatPoints.userId, chatPoints.day],
        set: { granted: sql`${chatPoints.granted} + ${granted}` }
      })
    await tx
      .insert(chatAccountPoints)
      .values({ account, day, granted })
      .onConflictDoUpdate({
        target: [chatAccountPoints.account, chatAccountPoints.day],
        set: { granted: sql`${chatAccountPoints.granted} + ${granted}` }
      })
    const cause = `chat:${report.event_id}`
    await grantPoints(unit, {
      userId,
      kind: 'coins',
      point: granted,
      reason: 'chat_message',
      cause,
      maturesAt: maturity(now, settings)
    })
    return ok({ granted })
  })
}

/** The ids of the chat platform could be tried one by one: the hash needs the shop's secret. */
const accountHash = ({ appSecret }: Pick<Config, 'appSecret'>, discordId: string): Buffer =>
  createHmac('sha256', appSecret).update(`chat account ${discordId}`).digest()
