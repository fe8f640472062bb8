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

/** `nothing`: there is nothing to send, or it was sent already. */
export type Sent = { kind: 'nothing' | 'applied' | 'refused' } | { kind: 'failed'; message: string }

type Refused = { reason: Reason; params: Params }

/** Whether a key would leave this machine without TLS. Many servers may share it, so that is refused. */
export const isInClear = ({ ip, agentCertificate }: Pick<ServerRow, 'ip' | 'agentCertificate'>): boolean =>
  agentCertificate === null && !(isIP(ip) === 4 ? ip.startsWith('127.') : ip === '::1')

/**
 * Sends an agent the wanted TLS, unless it was sent already. The caller holds the server's lock.
 * @param agent that takes changes of this console
 */
export async function sendTls(ctx: SyncContext, agent: AgentClient, serverId: number): Promise<Sent> {
  // Read here, because it may have been saved since the caller read the row.
  const server = await readServerRow(ctx.db, serverId)
  const kept = server && tlsOf(server)
  if (!server || !kept || kept.sent?.hash === kept.hash) return { kind: 'nothing' }
  return send(ctx, agent, server, kept)
}

/**
 * The same, compared with what the agent says it holds. A refused wish is sent again too, because files and settings of
 * its machine change without notice.
 */
export async function repairTls(
  ctx: SyncContext,
  agent: AgentClient,
  serverId: number,
  held: AgentProxyTlsState | undefined
): Promise<Sent> {
  const server = await readServerRow(ctx.db, serverId)
  const kept = server && tlsOf(server)
  if (!server || !kept) return { kind: 'nothing' }
  const isTold = kept.sent?.hash === kept.hash
  if (held === undefined && isTold && kept.sent?.refusal) return { kind: 'nothing' }
  if (held?.hash === kept.hash && held.source !== 'environment' && isTold && !kept.sent?.refusal)
    return { kind: 'nothing' }
  // The machine's environment decides, as the agent said before. The key need not travel again.
  if (held?.source === 'environment' && isTold && kept.sent?.refusal?.reason === 'tls_by_environment')
    return { kind: 'nothing' }
  return send(ctx, agent, server, kept)
}

async function send(ctx: SyncContext, agent: AgentClient, server: ServerRow, kept: KeptTls): Promise<Sent> {
  const refused = (reason: Reason, params: Params = {}): Promise<Sent> =>
    record(ctx, server.id, kept, { reason, params })
  let wanted
  try {
    wanted = openTls(kept, ctx.secrets)
  } catch {
    return refused('tls_secret_unreadable')
  }
  if (wanted.source === 'pasted' && isInClear(server)) return refused('tls_in_clear')
  const reply = await agent.putProxyTls(wanted)
  if (!reply.ok && reply.kind === 'failed') return { kind: 'failed', message: reply.message }
  if (!reply.ok) return refused(...reasonOf(reply))
  const sent = await record(ctx, server.id, kept, null)
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
  return sent
}

function reasonOf({ status, reason, message }: { status: number; reason: string; message: string }): [Reason, Params] {
  if (status === 404) return ['tls_agent_too_old', {}]
  if (reason === 'proxyTlsByEnvironment') return ['tls_by_environment', {}]
  return ['tls_not_taken', { message }]
}

/** Records the result, unless something else is wanted now. */
async function record(ctx: SyncContext, id: number, { hash }: KeptTls, refusal: Refused | null): Promise<Sent> {
  await command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, id)
    const kept = row && tlsOf(row)
    if (!row || kept?.hash !== hash) return
    const sent = { hash, refusal }
    if (isDeepStrictEqual(kept.sent, sent)) return
    await saveAgentSettings(unit, id, withTls(row, { ...kept, sent }))
    unit.publish('server', id)
    if (refusal) ctx.log.warn({ server: id, reason: refusal.reason }, 'agent did not take its TLS settings')
  })
  return { kind: refusal ? 'refused' : 'applied' }
}
