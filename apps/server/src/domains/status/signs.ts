import type { LocationState } from '@netlet/contract'
import { and, eq, gt, isNull, lte, sql } from '../../infra/db/drizzle.ts'
import { HOUR } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { serverGroups, serverGroupServers, serverReports, servers } from '../servers/tables.ts'
import { serverState, type ProxyChecks } from './states.ts'
import { incidentLocations, incidents } from './tables.ts'

/** Recent results of checks of live proxies, by server. The checking domain is higher and provides them. */
export type ReadProxyChecks = (db: Executor, since: Date) => Promise<ReadonlyMap<number, ProxyChecks>>

/** Each proxy is checked once a day, at spread times, so an hour contains a share of every server's. */
const CHECKED_WITHIN = HOUR

export type ServerNow = { groupId: number; serverId: number; state: LocationState }

/** The current state of each server in each group, without unused ones. Three queries. */
export async function readServerStates(db: Executor, readChecks: ReadProxyChecks, now: Date): Promise<ServerNow[]> {
  const rows = await db
    .select({
      groupId: serverGroupServers.groupId,
      serverId: servers.id,
      status: servers.status,
      connected: servers.connected,
      lastSeenAt: servers.lastSeenAt,
      unreachableSince: servers.unreachableSince,
      problems: sql<string[] | null>`${serverReports.report} -> 'problems'`
    })
    .from(serverGroupServers)
    .innerJoin(serverGroups, and(eq(serverGroups.id, serverGroupServers.groupId), isNull(serverGroups.deletedAt)))
    .innerJoin(servers, and(eq(servers.id, serverGroupServers.serverId), isNull(servers.deletedAt)))
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
  const checks = await readChecks(db, new Date(now.getTime() - CHECKED_WITHIN))
  const planned = await groupsInMaintenance(db, now)
  return rows.flatMap(({ groupId, serverId, problems, ...signs }) => {
    const state = serverState({ ...signs, problems: problems ?? [], checks: checks.get(serverId) }, now)
    if (state === null) return []
    const isPlanned = planned.has(groupId) && (state === 'down' || state === 'degraded')
    return [{ groupId, serverId, state: isPlanned ? 'maintenance' : state }]
  })
}

/** Groups with planned work in progress. Failures there are not outages. */
async function groupsInMaintenance(db: Executor, now: Date): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectDistinct({ groupId: incidentLocations.groupId })
    .from(incidents)
    .innerJoin(incidentLocations, eq(incidentLocations.incidentId, incidents.id))
    .where(
      and(
        eq(incidents.severity, 'maintenance'),
        isNull(incidents.resolvedAt),
        lte(incidents.startedAt, now),
        gt(incidents.endsAt, now)
      )
    )
  return new Set(rows.map(({ groupId }) => groupId))
}
