import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { Sender } from '../../infra/jobs.ts'
import { followOn } from './desired.ts'
import { agentUsers } from './tables.ts'

/** Users made by hand whose addresses are the server's own no longer. */
export async function byHandOutside(db: Executor, serverId: number): Promise<string[]> {
  const rows = await db
    .select({ username: agentUsers.username })
    .from(agentUsers)
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        isNull(agentUsers.orderId),
        eq(agentUsers.wanted, true),
        sql`exists (select 1 from unnest(${agentUsers.prefixes}) as prefix where not exists (
          select 1 from cidrs c where c.server_id = ${serverId} and c.deleted_at is null and c.cidr >>= prefix::inet))`
      )
    )
    .orderBy(asc(agentUsers.username))
  return rows.map(row => row.username)
}

/** Wants users made by hand gone: the named ones, or all of the server. Users of orders are never touched. */
export async function unwantByHand(
  tx: Executor,
  jobs: Sender,
  serverId: number,
  usernames?: string[]
): Promise<string[]> {
  const rows = await tx
    .update(agentUsers)
    .set({ wanted: false, refusal: null, generation: sql`nextval('agent_generation')` })
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        isNull(agentUsers.orderId),
        usernames && sql`${agentUsers.username} = any(${sql.param(usernames)}::text[])`
      )
    )
    .returning({ username: agentUsers.username })
  await followOn(
    tx,
    jobs,
    rows.map(() => serverId)
  )
  return rows.map(row => row.username)
}
