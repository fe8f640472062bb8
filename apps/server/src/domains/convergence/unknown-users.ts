import { and, isNull, ne } from '../../infra/db/drizzle.ts'
import pLimit from 'p-limit'
import { z } from 'zod'
import { parseJson } from '../../integrations/http-exchange.ts'
import { agentOf, type SyncContext } from '../servers/index.ts'
import { agentUsers, servers } from '../servers/tables.ts'
import type { HeldRanges } from '../settings/index.ts'

const Users = z.object({
  data: z.object({ users: z.array(z.object({ user: z.string().max(64), prefixes: z.array(z.string().max(64)) })) })
})

const AT_ONCE = 8
const ANSWER_MS = 15_000
const MOST_BYTES = 32 * 1024 * 1024

/**
 * Asks all agents which users they hold that the database does not know.
 * @returns their ranges by user, and how many agents did not say
 */
export async function readUnknownUsers(
  ctx: SyncContext
): Promise<{ held: Record<string, HeldRanges>; silent: number }> {
  const all = await ctx.db
    .select()
    .from(servers)
    .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
  const known = await ctx.db.select({ server: agentUsers.serverId, user: agentUsers.username }).from(agentUsers)
  const isKnown = new Set(known.map(({ server, user }) => `${server} ${user}`))
  const held: Record<string, HeldRanges> = {}
  let silent = 0
  await pLimit(AT_ONCE).map(all, async server => {
    const users = await usersOf(ctx, server).catch(() => null)
    if (users === null) silent += 1
    for (const { user, prefixes } of users ?? [])
      if (!isKnown.has(`${server.id} ${user}`)) (held[user] ??= []).push({ server: server.id, prefixes })
  })
  return { held, silent }
}

async function usersOf(ctx: SyncContext, server: typeof servers.$inferSelect) {
  const reply = await agentOf(server, ctx.secrets, ANSWER_MS).raw('GET', '/api/view-all-users', undefined, MOST_BYTES)
  const parsed = reply.ok && reply.data.status === 200 ? Users.safeParse(parseJson(reply.data.body)) : undefined
  return parsed?.success ? parsed.data.data.users : null
}
