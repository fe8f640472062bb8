import { createHmac } from 'node:crypto'
import { refusals, refuse, type BodyOf, type routes, type Settings } from '@netlet/contract'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { equalInConstantTime, type Secrets } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockUserOfDiscord } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import { grantPoints } from './grant.ts'
import { chatAccountPoints, chatEvents, chatPoints } from './tables.ts'
import { maturity } from './take-coins.ts'

/** In milliseconds. Messages are remembered a little longer (retention.ts), so that an old one cannot count again. */
export const OLDEST_CHAT_MESSAGE = DAY

type Report = BodyOf<typeof routes.rewards.botWebhook>

/**
 * Rewards a chat message that an operator's own bot reports. `signature`: the body's HMAC-SHA256 in hex, with the bot's
 * token as the key.
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
  if (!equalInConstantTime(signature.toLowerCase(), createHmac('sha256', token).update(rawBody).digest('hex')))
    return refuse('bad_signature')
  const now = ctx.now()
  const at = new Date(report.at)
  if (at.getTime() < now.getTime() - OLDEST_CHAT_MESSAGE || at.getTime() > now.getTime() + 5 * MINUTE)
    return refuse('report_too_old', { data: { errors: { at: refusals.report_too_old[1] } } })
  return command(ctx, by, async unit => {
    const { event_id: eventId, discord_id: discordId, channel_id: channelId } = report
    const { granted } = await grantForChatMessage(unit, ctx.secrets, settings, { eventId, discordId, channelId, at })
    return ok({ granted })
  })
}

type Earning = Pick<
  Settings,
  'discord_bot_channels' | 'discord_bot_points_per_message' | 'discord_bot_max_points_per_day' | 'coins_hold_days'
>

/** The channels in the settings; empty: all of them count. */
export const chatChannels = (settings: Pick<Settings, 'discord_bot_channels'>): string[] =>
  settings.discord_bot_channels.split(/[\s,]+/).filter(Boolean)

/**
 * Coins for a chat message in the configured channels, up to the daily limit of user and chat account. A message counts
 * once by its id, even if two bots report it. The caller refuses messages older than `OLDEST_CHAT_MESSAGE`.
 * @returns `first` is false if the message was counted before
 */
export async function grantForChatMessage(
  unit: Unit,
  secrets: Secrets,
  settings: Earning,
  message: { eventId: string; discordId: string; channelId: string; at: Date }
): Promise<{ granted: number; first: boolean }> {
  const { tx, now } = unit
  const { eventId, discordId, channelId, at } = message
  const channels = chatChannels(settings)
  const seen = await tx.insert(chatEvents).values({ eventId, receivedAt: now }).onConflictDoNothing().returning()
  if (seen.length === 0) return { granted: 0, first: false }
  const nothing = { granted: 0, first: true }
  if (channels.length > 0 && !channels.includes(channelId)) return nothing
  const userId = await lockUserOfDiscord(tx, discordId)
  if (userId === undefined) return nothing
  const day = at.toISOString().slice(0, 10)
  const most = settings.discord_bot_max_points_per_day
  // Limits on both, so that changing the linked chat account, or the user that it is linked to, gains nothing.
  const account = chatAccountHash(secrets, discordId)
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
  if (granted === 0) return nothing
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
  await grantPoints(unit, {
    userId,
    kind: 'coins',
    point: granted,
    reason: 'chat_message',
    cause: `chat:${eventId}`,
    maturesAt: maturity(now, settings)
  })
  return { granted, first: true }
}

/** The coins that a user earned with chat messages on a day (UTC). */
export async function chatPointsOfDay(db: Executor, userId: number, at: Date): Promise<number> {
  const day = at.toISOString().slice(0, 10)
  const [row] = await db
    .select({ granted: chatPoints.granted })
    .from(chatPoints)
    .where(and(eq(chatPoints.userId, userId), eq(chatPoints.day, day)))
  return row?.granted ?? 0
}

/** Keyed with the shop's secret, because ids of chat accounts could be guessed one by one. */
export const chatAccountHash = (secrets: Secrets, discordId: string): Buffer => secrets.mac(`chat account ${discordId}`)
