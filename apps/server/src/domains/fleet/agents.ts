import { and, eq, or, sql } from 'drizzle-orm'
import { createAgentClient, type AgentClient } from '../../integrations/agent/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { servers } from './tables.ts'

export type ServerRow = typeof servers.$inferSelect

/**
 * The client of a server's agent.
 * @throws where the stored token was sealed with another APP_SECRET
 */
export function agentOf(
  server: Pick<ServerRow, 'ip' | 'agentPort' | 'agentToken' | 'agentCertificate'>,
  secrets: Secrets,
  timeoutMs?: number
): AgentClient {
  const address = {
    host: server.ip,
    port: server.agentPort,
    token: server.agentToken ? secrets.open(server.agentToken) : '',
    certificate: server.agentCertificate
  }
  return createAgentClient(address, timeoutMs)
}

/**
 * Notes that the agent answered.
 * @returns whether it was away until now, or never seen before
 */
export async function noteAnswer(db: Executor, serverId: number, at: Date): Promise<boolean> {
  const back = await db
    .update(servers)
    .set({ connected: true, lastSeenAt: at, unreachableSince: null, failures: 0, lastError: null })
    .where(and(eq(servers.id, serverId), or(eq(servers.connected, false), sql`${servers.failures} > 0`)))
    .returning({ id: servers.id })
  if (back.length > 0) return true
  // What is wrong besides the connection stays to be read.
  await db.update(servers).set({ lastSeenAt: at }).where(eq(servers.id, serverId))
  return false
}

/**
 * Notes that the agent did not answer.
 * @param counts whether it was asked for its health: only those failures in a row make an alarm
 * @returns how often in a row its health was asked for in vain
 */
export async function noteSilence(
  db: Executor,
  serverId: number,
  message: string,
  at: Date,
  { counts }: { counts: boolean }
): Promise<number> {
  const [row] = await db
    .update(servers)
    .set({
      connected: false,
      unreachableSince: sql`coalesce(${servers.unreachableSince}, ${at.toISOString()}::timestamptz)`,
      failures: counts ? sql`${servers.failures} + 1` : servers.failures,
      lastError: message.slice(0, 500)
    })
    .where(eq(servers.id, serverId))
    .returning({ failures: servers.failures })
  return row?.failures ?? 0
}

/** Notes what keeps a reachable agent from being in step; null: nothing any more. */
export async function noteTrouble(db: Executor, serverId: number, message: string | null): Promise<void> {
  await db
    .update(servers)
    .set({ lastError: message?.slice(0, 500) ?? null })
    .where(eq(servers.id, serverId))
}
