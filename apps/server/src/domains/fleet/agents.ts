import { eq, sql } from 'drizzle-orm'
import { createAgentClient, type AgentClient } from '../../integrations/agent/index.ts'
import type { Executor } from '../../platform/db/client.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { servers } from './tables.ts'

export type ServerRow = typeof servers.$inferSelect

/** The client of a server's agent. */
export function agentOf(
  server: Pick<ServerRow, 'ip' | 'agentPort' | 'agentToken' | 'agentCertificate'>,
  secrets: Secrets
): AgentClient {
  return createAgentClient({
    host: server.ip,
    port: server.agentPort,
    token: server.agentToken ? secrets.open(server.agentToken) : '',
    certificate: server.agentCertificate
  })
}

/** Notes that the agent answered. */
export async function noteAnswer(db: Executor, serverId: number, at: Date): Promise<void> {
  await db
    .update(servers)
    .set({ connected: true, lastSeenAt: at, unreachableSince: null, failures: 0, lastError: null })
    .where(eq(servers.id, serverId))
}

/** Notes that the agent did not answer; gives back how often in a row that was so. */
export async function noteSilence(db: Executor, serverId: number, message: string, at: Date): Promise<number> {
  const [row] = await db
    .update(servers)
    .set({
      connected: false,
      unreachableSince: sql`coalesce(${servers.unreachableSince}, ${at})`,
      failures: sql`${servers.failures} + 1`,
      lastError: message.slice(0, 500)
    })
    .where(eq(servers.id, serverId))
    .returning({ failures: servers.failures })
  return row?.failures ?? 0
}
