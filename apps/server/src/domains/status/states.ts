import type { LocationState } from '@netlet/contract'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, gt, isNull, lte, sql } from '../../infra/db/drizzle.ts'
import { serverGroupServers, serverGroups, serverReports, servers } from '../servers/tables.ts'
import { incidentLocations, incidents } from './tables.ts'

/** The facts that decide a server's state. */
export type ServerFacts = {
  status: 'active' | 'paused' | 'draining' | 'given_up' | 'returning'
  /** Whether its agent answered the last health check, and when it last answered. */
  connected: boolean
  lastSeenAt: Date | null
  /** Since when it does not answer; null: it does, or was never checked. */
  unreachableSince: Date | null
  problems: readonly string[]
  /** Recent checks of its proxies; undefined: none. */
  checks: ProxyChecks | undefined
}

/** Checks of one server's proxies. Each customer counts once, with the share of its proxies that reached no site. */
export type ProxyChecks = { customers: number; failing: number; share: number }

/** Older signs are outdated: health checks and proxy checks take less time. */
const STALE = 5 * MINUTE

/** How many customers' proxies must fail: one customer's may fail by its own doing. */
const CUSTOMERS = 2
const DEGRADED_SHARE = 0.2
const DOWN_SHARE = 0.9

/** Agents' problems that customers notice. A full disk or a wrong clock concerns operators only. */
const FELT: ReadonlySet<string> = new Set([
  'worker_missing',
  'handles_low',
  'loop_slow',
  'routes_missing',
  'dns_failing'
])

/** A server's state for its customers; null: unused, so it does not count. See docs/STATUS.md. */
export function serverState(signs: ServerFacts, now: Date): LocationState | null {
  const { status, connected, lastSeenAt, unreachableSince, problems, checks } = signs
  if (status === 'given_up' || status === 'returning') return null
  if (status !== 'active') return 'maintenance'
  if (!connected) return unreachableSince === null ? 'unknown' : 'down'
  if (lastSeenAt === null || now.getTime() - lastSeenAt.getTime() > STALE) return 'unknown'
  const failing = checks && checks.failing >= CUSTOMERS ? checks.share : 0
  if (failing >= DOWN_SHARE) return 'down'
  return failing >= DEGRADED_SHARE || problems.some(problem => FELT.has(problem)) ? 'degraded' : 'up'
}

/** The share of known servers, without maintenance, that must be down for the location to be down. */
const DOWN_SERVERS = 0.5

export function locationState(servers: readonly LocationState[]): LocationState {
  const known = servers.filter(state => state !== 'unknown')
  const serving = known.filter(state => state !== 'maintenance')
  if (serving.length === 0) return known.length > 0 ? 'maintenance' : 'unknown'
  const down = serving.filter(state => state === 'down').length
  if (down / serving.length >= DOWN_SERVERS) return 'down'
  return serving.every(state => state === 'up') ? 'up' : 'degraded'
}

const WORST: readonly LocationState[] = ['down', 'degraded', 'maintenance', 'up']

/** The worst of several; `unknown` only if there is no other. */
export const worstState = (states: readonly LocationState[]): LocationState =>
  WORST.find(state => states.includes(state)) ?? 'unknown'

export type Minutes = { up: number; degraded: number; down: number; maintenance: number }

/** A day is up from this percentage on, and down below the other one. */
const UP_DAY = 99.5
const DOWN_DAY = 50

/** Percent of the time without maintenance in which servers worked, even degraded, rounded down to 2 decimals. */
export function shareUp({ up, degraded, down }: Minutes): number | null {
  const all = up + degraded + down
  // Rounding up would hide a minute of silence in three months.
  return all === 0 ? null : Math.floor(((up + degraded) * 10_000) / all) / 100
}

export function dayState(minutes: Minutes): LocationState {
  const share = shareUp(minutes)
  if (share === null) return minutes.maintenance > 0 ? 'maintenance' : 'unknown'
  if (share < DOWN_DAY) return 'down'
  const { up, degraded, down } = minutes
  return share < UP_DAY || degraded * 100 > (up + degraded + down) * (100 - UP_DAY) ? 'degraded' : 'up'
}

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
