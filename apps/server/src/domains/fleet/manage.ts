import { refuse, type AgentReply, type Refusal } from '@netlet/contract'
import type { z } from 'zod'
import type { AgentClient, AgentResult, RawReply } from '../../integrations/agent/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { agentOf, type SyncContext } from './agents.ts'
import type { ConfirmPort } from './apply.ts'
import { AgentUnreachable, syncAgent, type Synced } from './converge.ts'
import { withServerLock } from './lock.ts'
import { readConsole } from './ownership/identity.ts'
import { readServerRow, type ServerRow } from './server-row.ts'

/** An agent's answer, for the output panel of the server management. */
export type AgentOutput = z.infer<typeof AgentReply>

/** How long an action waits for another one that talks to the same agent. In milliseconds. */
export const LOCK_WAIT_MS = 15_000

export const unreachable = (message: string): Refusal => refuse('agent_unreachable', { params: { message } })

export const refusedByAgent = (message: string): Refusal => refuse('agent_refused', { params: { message } })

/** Finds a server whose agent answers, so that an action can change something there. */
export async function requireAgent(
  ctx: SyncContext,
  id: number
): Promise<Result<{ server: ServerRow; agent: AgentClient }>> {
  const server = await readServerRow(ctx.db, id)
  if (!server) return refuse('not_found')
  const { id: console } = await readConsole(ctx)
  const agent = agentOf(server, ctx.secrets, undefined, { console: { id: console } })
  const info = await agent.info()
  return info.ok ? ok({ server, agent }) : unreachable(info.message)
}

/** The agent's answer, parsed if it is JSON. */
export function outputOf(reply: AgentResult<RawReply>): Result<AgentOutput> {
  if (!reply.ok) return unreachable(reply.message)
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

/** Brings the agent to what was wanted by hand, and returns its answer. Users of orders are left to the jobs. */
export async function convergeNow(ctx: SyncContext, serverId: number, waitMs = LOCK_WAIT_MS): Promise<Result<Synced>> {
  let synced: Synced | undefined
  try {
    await withServerLock(
      ctx.db,
      serverId,
      async () => {
        // Read under the lock, because another process may have loaded the ranges since.
        const server = await readServerRow(ctx.db, serverId)
        if (!server) return
        const confirm: ConfirmPort = (_orderIds, write) => command(ctx, SYSTEM, write)
        synced = await syncAgent(ctx, server, { confirm, byHandOnly: true })
      },
      { waitMs }
    )
  } catch (error) {
    if (!(error instanceof AgentUnreachable)) throw error
    return refuse('saved_agent_unreachable', { params: { message: error.message } })
  }
  return synced ? ok(synced) : refuse('saved_agent_busy')
}
