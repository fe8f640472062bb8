import { eq } from 'drizzle-orm'
import { testChannel } from '../../apps/server/src/domains/notices/channels.ts'
import { noticeChannels, noticeSends } from '../../apps/server/src/domains/notices/tables.ts'
import { SYSTEM } from '../../apps/server/src/infra/actor.ts'
import type { AppContext } from '../../apps/server/src/infra/context.ts'

/** Sends the stand-in's operators' room one notice, so that a newcomer finds a message there. */
export async function seedNotice(ctx: AppContext): Promise<void> {
  const [chat] = await ctx.db
    .select({ id: noticeChannels.id })
    .from(noticeChannels)
    .where(eq(noticeChannels.kind, 'chat'))
    .limit(1)
  if (!chat) return
  if ((await ctx.db.$count(noticeSends, eq(noticeSends.channelId, chat.id))) > 0) return
  const tested = await testChannel(ctx, SYSTEM, chat.id)
  if (!tested.ok) throw new Error(tested.msg ?? tested.reason)
}
