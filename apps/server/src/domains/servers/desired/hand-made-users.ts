import { and, asc, eq, isNull, sql } from '../../../infra/db/drizzle.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { enqueueConverge } from './desired-users.ts'
import { agentUsers } from '../tables.ts'

/** Users made by hand with addresses outside the server's ranges. */
export async function usersOutsideRanges(db: Executor, serverId: number): Promise<string[]> {
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

/** Removes users made by hand: the named ones, or all on the server. Users of orders are never touched. */
export async function removeUsersByHand(unit: Unit, serverId: number, usernames?: string[]): Promise<string[]> {
  const rows = await unit.tx
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
  if (rows.length > 0) enqueueConverge(unit, [serverId])
  return rows.map(row => row.username)
}
