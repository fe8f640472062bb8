import { refuse, type AgentReply, type Refusal } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { z } from 'zod'
import type { AgentClient, AgentResult, RawReply } from '../../integrations/agent/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { agentOf, type ServerRow } from './agents.ts'
import { AgentUnreachable, follow, type Followed } from './converge.ts'
import { withServerLock } from './lock.ts'
import { servers } from './tables.ts'

/** What the server management works with. */
export type Managing = Pick<AppContext, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>
export type Shown = z.infer<typeof AgentReply>

/** How long an action waits for another one that talks to the same agent. */
export const LOCK_WAIT_MS = 15_000

export async function findServer(db: Executor, id: number): Promise<ServerRow | undefined> {
  const [row] = await db
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
  return row
}

export const away = (message: string): Refusal =>
  refuse('agent_unreachable', { msg: `The server does not answer: ${message}` })

/** Finds a server whose agent answers now, so that an action can change something there. */
export async function reach(ctx: Managing, id: number): Promise<Result<{ server: ServerRow; agent: AgentClient }>> {
  const server = await findServer(ctx.db, id)
  if (!server) return refuse('not_found')
  const agent = agentOf(server, ctx.secrets)
  const info = await agent.info()
  return info.ok ? ok({ server, agent }) : away(info.message)
}

/** The agent's answer as it came, JSON read where it is some. */
export function shown(reply: AgentResult<RawReply>): Result<Shown> {
  if (!reply.ok) return away(reply.message)
  const { status, body, cut } = reply.data
  return ok({ status, output: cut ? `${body}\n… (cut)` : readBody(body) })
}

export function readBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

const none = async () => {}

/**
 * Lets the agent follow what was wanted by hand, now, so that the action can show what it said. What the orders want
 * follows in the background as ever.
 */
export async function followNow(ctx: Managing, serverId: number): Promise<Result<Followed>> {
  let followed: Followed | undefined
  try {
    await withServerLock(
      ctx.db,
      serverId,
      async () => {
        // Read under the lock: the ranges may have been loaded meanwhile.
        const server = await findServer(ctx.db, serverId)
        if (server) followed = await follow(ctx, server, { onConfirmed: none, byHandOnly: true })
      },
      { waitMs: LOCK_WAIT_MS }
    )
  } catch (error) {
    if (!(error instanceof AgentUnreachable)) throw error
    return refuse('agent_unreachable', { msg: `Noted; it follows as soon as the server answers: ${error.message}` })
  }
  if (!followed) {
    return refuse('agent_unreachable', { msg: 'Noted; it follows as soon as other changes of this server are through' })
  }
  return ok(followed)
}
