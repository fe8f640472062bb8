import { type AgentReply, type Ipv6Check, type Refusal, message, refuse } from '@netlet/contract'
import type { z } from 'zod'
import type { AgentClient, AgentResult, RawReply } from '../../integrations/agent/index.ts'
import { parseJson } from '../../integrations/http-exchange.ts'
import { type Result, ok } from '../../infra/result.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { type SyncContext, agentOf, withServerLock, type ServerRow, readServerRow } from '../servers/index.ts'
import type { ConfirmPort } from './apply-user.ts'
import { AgentCallFailed, syncAgent, type Synced } from './converge.ts'
import type { ExitTarget } from '@netlet/contract/exit-check'
import { formRefusal } from '../../infra/refusals.ts'
import { serverCidrs } from '../inventory/index.ts'
import { readConsole } from './ownership/claim-agent.ts'

/** Ranges that one check tries. Each opens some connections, and the slowest range decides how long the check takes. */
const MOST_RANGES = 8

/**
 * Has a server's agent connect from an address of each of its IPv6 ranges, to see whether replies come back.
 * @param target `host:port`; if empty, `sites` are used
 */
export async function checkIpv6(
  ctx: SyncContext,
  serverId: number,
  target: string,
  sites: readonly string[]
): Promise<Result<Ipv6Check>> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return refuse('not_found')
  const targets = target === '' ? sites.flatMap(siteTarget) : asTarget(target)
  if (targets.length === 0) return formRefusal({ target: message('enter_target') })
  const ranges = (await serverCidrs(ctx.db, serverId)).filter(range => range.includes(':'))
  if (ranges.length === 0) return refuse('no_ipv6_ranges')
  const agent = agentOf(server, ctx.secrets)
  const replies = await Promise.all(
    ranges.slice(0, MOST_RANGES).map(prefix => agent.checkExit({ prefix, targets: targets.slice(0, 5) }))
  )
  const checks: Ipv6Check['checks'] = []
  for (const reply of replies) {
    if (!reply.ok) return reply.kind === 'refused' ? refusedByAgent(reply.message) : callFailed(reply.message)
    checks.push(reply.data)
  }
  return ok({ checks, more: ranges.length - checks.length })
}

function asTarget(text: string): ExitTarget[] {
  const at = text.lastIndexOf(':')
  const port = Number(text.slice(at + 1))
  const host = text.slice(0, at).replace(/^\[(.*)\]$/, '$1')
  return port >= 1 && port <= 65_535 ? [{ host, port }] : []
}

function siteTarget(site: string): ExitTarget[] {
  if (!URL.canParse(site)) return []
  const { hostname, port, protocol } = new URL(site)
  return asTarget(`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)
}

/** An agent's answer, for the output panel of the server management. */
export type AgentOutput = z.infer<typeof AgentReply>

/** How long an action waits for another one that talks to the same agent. In milliseconds. */
export const LOCK_WAIT_MS = 15_000

export const callFailed = (message: string): Refusal => refuse('agent_unreachable', { params: { message } })

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
  return info.ok ? ok({ server, agent }) : callFailed(info.message)
}

/** The agent's answer, parsed if it is JSON. */
export function outputOf(reply: AgentResult<RawReply>): Result<AgentOutput> {
  if (!reply.ok) return callFailed(reply.message)
  const { status, body, cut } = reply.data
  return ok({ status, output: cut ? `${body}\n… (cut)` : (parseJson(body) ?? body) })
}

/** Sends an operator's manual changes to the agent now, and returns its answer. Jobs send the users of orders. */
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
    if (!(error instanceof AgentCallFailed)) throw error
    return refuse('saved_agent_unreachable', { params: { message: error.message } })
  }
  return synced ? ok(synced) : refuse('saved_agent_busy')
}
