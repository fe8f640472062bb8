import { createAgentClient, type AgentAddress, type AgentClient } from '../../integrations/agent/index.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Database } from '../../infra/db/client.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'
import type { Secrets } from '../../infra/secrets.ts'
import type { ServerRow } from './server-row.ts'

/** What code that talks to agents needs. */
export type SyncContext = Pick<AppContext, 'config' | 'db' | 'jobs' | 'secrets' | 'now' | 'log' | 'changes'>

/**
 * The client of a server's agent.
 * @throws if the stored token was sealed with another APP_SECRET
 */
export function agentOf(
  server: Pick<ServerRow, 'ip' | 'agentPort' | 'agentToken' | 'agentCertificate'>,
  secrets: Secrets,
  timeoutMs?: number,
  more: Pick<AgentAddress, 'console' | 'dial'> = {}
): AgentClient {
  const address = {
    host: server.ip,
    port: server.agentPort,
    token: server.agentToken ? secrets.open(server.agentToken) : '',
    certificate: server.agentCertificate,
    ...more
  }
  return createAgentClient(address, timeoutMs)
}

type ServerLock = 'serverAgent' | 'serverProvisioning'

/**
 * Runs `work` while no other process holds this lock of the server. A database session holds the lock, so it ends with
 * the process, even after a crash.
 * @param waitMs how long to wait for another holder
 * @returns false if another process holds the lock; `work` did not run
 */
export async function withServerLock(
  db: Database,
  serverId: number,
  work: () => Promise<void>,
  { waitMs = 0, lock = 'serverAgent' }: { waitMs?: number; lock?: ServerLock } = {}
): Promise<boolean> {
  const { ran } = await withSessionLock(db, lock, serverId, work, { waitMs })
  return ran
}
