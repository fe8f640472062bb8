import { refuse, type LiveConnections } from '@netlet/contract'
import type { AgentEnded, AgentLogLines } from '@netlet/contract/agent-live'
import { and, eq, inArray, isNotNull } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AgentClient, AgentResult, LogQuery } from '../../integrations/agent/index.ts'
import { agentOf, type SyncContext, readServerRow } from '../servers/index.ts'
import { refusedByAgent, callFailed } from './manage.ts'
import { agentUsers } from '../servers/tables.ts'
import { readConsole } from './ownership/claim-agent.ts'

/** A screen asks every few seconds, so a later answer is useless. */
const ANSWER_MS = 5000

async function agentAt(ctx: SyncContext, serverId: number): Promise<Result<AgentClient>> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return refuse('not_found')
  const { id } = await readConsole(ctx)
  return ok(agentOf(server, ctx.secrets, ANSWER_MS, { console: { id } }))
}

function answered<T>(reply: AgentResult<T>): Result<T> {
  if (reply.ok) return ok(reply.data)
  // An older agent does not know the call.
  return reply.kind === 'refused' ? refusedByAgent(reply.message) : callFailed(reply.message)
}

/** The open connections on a server, by user or of one user, with the users' orders. */
export async function liveConnections(
  ctx: SyncContext,
  serverId: number,
  user: string | undefined
): Promise<Result<LiveConnections>> {
  const agent = await agentAt(ctx, serverId)
  if (!agent.ok) return agent
  const reply = answered(await agent.data.connections(user))
  if (!reply.ok) return reply
  const names = user === undefined ? reply.data.users.map(row => row.user) : [user]
  const rows =
    names.length === 0
      ? []
      : await ctx.db
          .select({ username: agentUsers.username, orderId: agentUsers.orderId })
          .from(agentUsers)
          .where(
            and(eq(agentUsers.serverId, serverId), inArray(agentUsers.username, names), isNotNull(agentUsers.orderId))
          )
  const orders = Object.fromEntries(rows.flatMap(row => (row.orderId === null ? [] : [[row.username, row.orderId]])))
  return ok({ ...reply.data, orders })
}

/** Ends a user's connections; the user may open others. Audited first, because the agent may not confirm. */
export async function endConnections(
  ctx: SyncContext,
  by: Actor,
  serverId: number,
  { user, connection }: { user: string; connection?: string | undefined }
): Promise<Result<AgentEnded>> {
  const agent = await agentAt(ctx, serverId)
  if (!agent.ok) return agent
  await command(ctx, by, async unit => unit.audit('server.end_connections', serverId, { after: { user, connection } }))
  return answered(await agent.data.endConnections(user, connection))
}

/** The newest lines of a server's access log. The agent keeps them only while a console asks for them. */
export async function followLog(ctx: SyncContext, serverId: number, query: LogQuery): Promise<Result<AgentLogLines>> {
  const agent = await agentAt(ctx, serverId)
  return agent.ok ? answered(await agent.data.followLog(query)) : agent
}
