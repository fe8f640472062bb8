import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Params, Reason } from '@netlet/contract'
import type { AgentProxyTlsState } from '@netlet/contract/proxy-tls'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import {
  recordReport,
  type SyncContext,
  lockServer,
  readServerRow,
  saveAgentSettings,
  type ServerRow,
  type KeptTls,
  openTls,
  tlsOf,
  withTls
} from '../servers/index.ts'
import { proxyNamesQueue } from './proxy-names.ts'

type Refused = { reason: Reason; params: Params }

/** Whether a key would leave this machine without TLS. Many servers may share it, so that is refused. */
export const isInClear = ({ ip, agentCertificate }: Pick<ServerRow, 'ip' | 'agentCertificate'>): boolean =>
  agentCertificate === null && !(isIP(ip) === 4 ? ip.startsWith('127.') : ip === '::1')

/**
 * Sends an agent the wanted TLS, unless it was sent already. The caller holds the server's lock.
 * @param agent one that accepts changes from this console
 */
export async function sendTls(ctx: SyncContext, agent: AgentClient, serverId: number): Promise<void> {
  // Read here, because it may have been saved since the caller read the row.
  const server = await readServerRow(ctx.db, serverId)
  const wish = server && tlsOf(server)
  if (server && wish && wish.sent?.hash !== wish.hash) await send(ctx, agent, server, wish)
}

/**
 * Sends the wanted TLS unless the agent reports that it has it. What the agent refused is sent again, because files and
 * settings of its machine change without notice.
 */
export async function resendTls(
  ctx: SyncContext,
  agent: AgentClient,
  serverId: number,
  reported: AgentProxyTlsState | undefined
): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  const wish = server && tlsOf(server)
  if (!server || !wish) return
  const sent = wish.sent?.hash === wish.hash ? wish.sent : null
  if (reported === undefined && sent?.refusal) return
  // The machine's environment decides, as the agent said before. The key need not travel again.
  if (reported?.source === 'environment' && sent?.refusal?.reason === 'tls_by_environment') return
  const isTaken = reported?.hash === wish.hash && reported.source !== 'environment'
  if (!isTaken || !sent || sent.refusal) await send(ctx, agent, server, wish)
}

/** An agent that does not answer gets it by the next repair. */
async function send(ctx: SyncContext, agent: AgentClient, server: ServerRow, wish: KeptTls): Promise<void> {
  const refused = (reason: Reason, params: Params = {}): Promise<void> =>
    record(ctx, server.id, wish, { reason, params })
  let wanted
  try {
    wanted = openTls(wish, ctx.secrets)
  } catch {
    return refused('tls_secret_unreadable')
  }
  if (wanted.source === 'pasted' && isInClear(server)) return refused('tls_in_clear')
  const reply = await agent.putProxyTls(wanted)
  if (!reply.ok) return reply.kind === 'failed' ? undefined : refused(...reasonOf(reply))
  await record(ctx, server.id, wish, null)
  // Customers are shown what the agent reports, so do not wait for its next health check.
  const askedAt = ctx.now()
  const info = await agent.info()
  const { id: serverId } = server
  if (info.ok) {
    await command(ctx, SYSTEM, async unit => {
      await recordReport(unit, serverId, info.data, askedAt)
      unit.jobs.send(proxyNamesQueue, { serverId }, { key: String(serverId) })
    })
  }
}

function reasonOf({ status, reason, message }: { status: number; reason: string; message: string }): [Reason, Params] {
  if (status === 404) return ['tls_agent_too_old', {}]
  if (reason === 'proxyTlsByEnvironment') return ['tls_by_environment', {}]
  return ['tls_not_taken', { message }]
}

/** Records the result, unless something else is wanted now. */
async function record(ctx: SyncContext, id: number, { hash }: KeptTls, refusal: Refused | null): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, id)
    const wish = row && tlsOf(row)
    if (!row || wish?.hash !== hash) return
    const sent = { hash, refusal }
    if (isDeepStrictEqual(wish.sent, sent)) return
    await saveAgentSettings(unit, id, withTls(row, { ...wish, sent }))
    unit.publish('server', id)
    if (refusal) ctx.log.warn({ server: id, reason: refusal.reason }, 'agent did not take its TLS settings')
  })
}
