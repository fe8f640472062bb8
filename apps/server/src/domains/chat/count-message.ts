import type { Settings } from '@netlet/contract'
import { desc, eq, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { ChatMessage } from '../../integrations/discord/bot.ts'
import { users } from '../accounts/tables.ts'
import { chatAccountHash, grantForChatMessage, OLDEST_CHAT_MESSAGE } from '../rewards/index.ts'
import { chatCursors, chatInstructions } from './tables.ts'

/** The oldest message that makes the bot tell its author how to connect. */
const NEWS = 15 * MINUTE

/**
 * Counts a message and moves the channel's cursor in one command. After a crash the cursor finds uncounted messages,
 * and their ids prevent double counts.
 * @param mayTell false if the author cannot be instructed now; a later message may do it
 * @returns `tell`: the author has no bound account and never got instructions; recorded as done
 */
export function countMessage(
  ctx: AppContext,
  settings: Settings,
  message: ChatMessage,
  mayTell: boolean
): Promise<{ tell: boolean }> {
  return command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const { id, authorId, channelId } = message
    // A platform clock that runs ahead must not add a day.
    const at = message.at > now ? now : message.at
    // Too old: the record that it was counted might be deleted already.
    if (now.getTime() - at.getTime() > OLDEST_CHAT_MESSAGE) {
      await moveCursor(unit, channelId, id)
      return { tell: false }
    }
    const { first } = await grantForChatMessage(unit, ctx.secrets, settings, {
      eventId: id,
      discordId: authorId,
      channelId,
      at
    })
    await moveCursor(unit, channelId, id)
    const earns = settings.discord_bot_points_per_message > 0 && settings.discord_bot_max_points_per_day > 0
    if (!first || !earns || !mayTell || now.getTime() - at.getTime() > NEWS) return { tell: false }
    const [known] = await tx.select({ id: users.id }).from(users).where(eq(users.discordId, authorId))
    if (known) return { tell: false }
    const account = chatAccountHash(ctx.secrets, authorId)
    const inserted = await tx.insert(chatInstructions).values({ account, at: now }).onConflictDoNothing().returning()
    return { tell: inserted.length > 0 }
  })
}

/** Reverts the record of instructions that did not reach the platform. */
export const forgetInstructions = (ctx: AppContext, discordId: string): Promise<void> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    await tx.delete(chatInstructions).where(eq(chatInstructions.account, chatAccountHash(ctx.secrets, discordId)))
  })

/** The last counted message of a channel; null if there is none. */
export async function readCursor(db: Executor, channelId: string): Promise<string | null> {
  const [row] = await db
    .select({ messageId: chatCursors.messageId })
    .from(chatCursors)
    .where(eq(chatCursors.channelId, channelId))
  return row?.messageId ?? null
}

/** Counted channels, those with the latest messages first. */
export async function countedChannels(db: Executor, limit: number): Promise<string[]> {
  const rows = await db
    .select({ channelId: chatCursors.channelId })
    .from(chatCursors)
    .orderBy(desc(chatCursors.messageId))
    .limit(limit)
  return rows.map(row => row.channelId)
}

/** Moves a channel's cursor forward only. */
export const setCursor = (ctx: AppContext, channelId: string, messageId: string): Promise<void> =>
  command(ctx, SYSTEM, unit => moveCursor(unit, channelId, messageId))

async function moveCursor({ tx }: Unit, channelId: string, messageId: string): Promise<void> {
  await tx
    .insert(chatCursors)
    .values({ channelId, messageId })
    .onConflictDoUpdate({
      target: chatCursors.channelId,
      set: { messageId: sql`greatest(${chatCursors.messageId}, excluded.message_id)` }
    })
}
