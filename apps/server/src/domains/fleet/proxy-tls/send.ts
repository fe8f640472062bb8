import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { Params, Reason } from '@netlet/contract'
import type { AgentProxyTlsState } from '@netlet/contract/agent-proxy-tls'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AgentClient } from '../../../integrations/agent/index.ts'
import { recordReport } from '../agent-report.ts'
import type { SyncContext } from '../agents.ts'
import { proxyNamesQueue } from '../queues.ts'
import { lockServer, readServerRow, type ServerRow } from '../server-row.ts'
import { servers } from '../tables.ts'
import { type KeptTls, opened, tlsOf, withTls } from './kept.ts'

/** `nothing`: there is nothing to tell, or it was told already. */
export type Sent = { kind: 'nothing' | 'applied' | 'refused' } | { kind: 'unreachable'; message: string }

type Refused = { reason: Reason; params: Params }

/** A key is sent to an agent by TLS only, unless it is on this machine: a certificate may be shared by many servers. */
export const isInClear = ({ ip, agentCertificate }: Pick<ServerRow, 'ip' | 'agentCertificate'>): boolean =>
  agentCertificate === null && !(isIP(ip) === 4 ? ip.startsWith('127.') : ip === '::1')

/**
 * Tells an agent which TLS is wanted of it, where it was not told yet. The caller holds the server's lock.
 * @param agent that takes changes of this console
 */
export async function sendTls(ctx: SyncContext, agent: AgentClient, serverId: number): Promise<Sent> {
  // Read here: it may have been saved since the caller read the row.
  const server = await readServerRow(ctx.db, serverId)
  const kept = server && tlsOf(server)
  if (!server || !kept || kept.sent?.hash === kept.hash) return { kind: 'nothing' }
  return send(ctx, agent, server, kept)
}

/**
 * The same, by what the agent says that it holds: told again where that is another one, also where it refused it before, since
 * files and settings of its machine change without a word.
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
  // Its machine decides, as it was told before: the key need not travel again.
  if (held?.source === 'environment' && isTold && kept.sent?.refusal?.reason === 'tls_by_environment')
    return { kind: 'nothing' }
  return send(ctx, agent, server, kept)
}

async function send(ctx: SyncContext, agent: AgentClient, server: ServerRow, kept: KeptTls): Promise<Sent> {
  const refused = (reason: Reason, params: Params = {}): Promise<Sent> =>
    record(ctx, server.id, kept, { reason, params })
  let wanted
  try {
    wanted = opened(kept, ctx.secrets)
  } catch {
    return refused('tls_secret_unreadable')
  }
  if (wanted.source === 'pasted' && isInClear(server)) return refused('tls_in_clear')
  const reply = await agent.putProxyTls(wanted)
  if (!reply.ok && reply.kind === 'unreachable') return { kind: 'unreachable', message: reply.message }
  if (!reply.ok) return refused(...reasonOf(reply))
  const sent = await record(ctx, server.id, kept, null)
  // Customers are shown what the agent tells: they need not wait for its next health check.
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

/** What came of it, where nothing else is wanted by now. */
async function record(ctx: SyncContext, id: number, { hash }: KeptTls, refusal: Refused | null): Promise<Sent> {
  await command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, id)
    const kept = row && tlsOf(row)
    if (!row || kept?.hash !== hash) return
    const sent = { hash, refusal }
    if (isDeepStrictEqual(kept.sent, sent)) return
    await unit.tx
      .update(servers)
      .set({ agentSettings: withTls(row, { ...kept, sent }) })
      .where(eq(servers.id, id))
    unit.publish('server', id)
    if (refusal) ctx.log.warn({ server: id, reason: refusal.reason }, 'agent did not take its TLS settings')
  })
  return { kind: refusal ? 'refused' : 'applied' }
}
