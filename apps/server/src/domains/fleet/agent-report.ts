import type { AgentReport, ServerProblem } from '@netlet/contract'
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { HOUR, iso, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { startOf } from '../../infra/text.ts'
import type { AgentInfo } from '../../integrations/agent/index.ts'
import { handsOverToOurs, programIn, settingsFormatIn } from './provision/takeover.ts'
import { enqueueConverge } from './desired.ts'
import { publishSelling } from './selling.ts'
import { agentUsers, serverReports, servers } from './tables.ts'

/** Hours of traffic that are kept of each server. */
export const KEPT_HOURS = 48

/**
 * Writes down what an agent told of itself. What was asked before the report that is there, and came late, is dropped: it is of a
 * program that may not run any more. One of before, which tells nothing, leaves no report; where what it tells cannot be
 * right, its last report stays, and says since when.
 */
export async function recordReport(
  unit: Unit,
  serverId: number,
  info: AgentInfo,
  askedAt: Date = unit.now
): Promise<void> {
  const { tx } = unit
  if (info.misreported) {
    const since = sql`coalesce(${serverReports.report} -> 'refused_since', to_jsonb(${iso(askedAt)}::text))`
    const report = sql`${serverReports.report} || jsonb_build_object('refused_since', ${since})`
    await tx.update(serverReports).set({ report }).where(eq(serverReports.serverId, serverId))
    return
  }
  if (!info.health) return
  const [before] = await tx.select().from(serverReports).where(eq(serverReports.serverId, serverId)).for('update')
  const newer = before ? Date.parse(before.report.at) - askedAt.getTime() : 0
  // Later than that it is no late one: the clock was set back.
  if (newer > 0 && newer < MINUTE) return
  // The machines' clocks are compared, whatever time the shop takes it to be.
  const next = reportOf(info, before ?? null, askedAt, new Date())
  if (!next) return
  await tx
    .insert(serverReports)
    .values({ serverId, ...next })
    .onConflictDoUpdate({ target: serverReports.serverId, set: next })
  if (before && before.report.version !== next.report.version) await askAgain(unit, serverId)
  // What shoppers are told of the server's proxies.
  const offered = (report: AgentReport | undefined) => JSON.stringify(report?.certificates ?? null)
  if (offered(before?.report) === offered(next.report)) return
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** Another program may take what the one of before refused. */
async function askAgain(unit: Unit, serverId: number): Promise<void> {
  const refused = and(eq(agentUsers.serverId, serverId), isNotNull(agentUsers.refusal))
  const again = await unit.tx
    .update(agentUsers)
    .set({ refusal: null })
    .where(refused)
    .returning({ id: agentUsers.serverId })
  const tls = await unit.tx
    .update(servers)
    .set({ agentSettings: sql`${servers.agentSettings} #- '{proxy_tls,sent}'` })
    .where(
      and(eq(servers.id, serverId), sql`${servers.agentSettings} #> '{proxy_tls,sent,refusal,reason}' is not null`)
    )
    .returning({ id: servers.id })
  if (again.length + tls.length > 0) enqueueConverge(unit, [serverId])
}

type Stored = Pick<typeof serverReports.$inferSelect, 'report' | 'counters'>

/** The next report of an agent: its counters begin at 0 with each start, so a shorter uptime counts them whole. */
export function reportOf(info: AgentInfo, before: Stored | null, now: Date, clock = now): Stored | null {
  const { health, load, num_of_users } = info
  if (!health) return null
  const counters = load ? { up: load.up, down: load.down } : null
  const elapsed = before ? (now.getTime() - Date.parse(before.report.at)) / 1000 : 0
  const goesOn = before?.counters && health.uptime_seconds >= before.report.uptime_seconds
  const from = goesOn && before.counters ? before.counters : { up: 0, down: 0 }
  const grown = counters && {
    up: Math.max(0, counters.up - from.up),
    down: Math.max(0, counters.down - from.down)
  }
  // Of the first report nobody knows over which time it came about.
  const counted = grown && before ? grown : null
  const perSecond = (bytes: number) => Math.round(bytes / elapsed)
  return {
    report: {
      at: iso(now),
      version: startOf(health.version, 50),
      status: health.status,
      workers: health.workers,
      uptime_seconds: health.uptime_seconds,
      users: num_of_users ?? null,
      problems: problemsOf(health, clock),
      hands_over: handsOverToOurs(programIn(info)),
      settings_format: settingsFormatIn(info),
      ...(health.certificates ? { certificates: health.certificates } : {}),
      connections: load?.connections ?? null,
      rate: counted && elapsed > 0 ? { up: perSecond(counted.up), down: perSecond(counted.down) } : null,
      hours: load
        ? addHour(before?.report.hours ?? [], now, {
            ...(counted ?? { up: 0, down: 0 }),
            connections: load.connections
          })
        : (before?.report.hours ?? [])
    },
    counters
  }
}

/** Further than a check that is slow can be. */
const CLOCK_MS = 60_000

function problemsOf({ problems = [], time }: NonNullable<AgentInfo['health']>, now: Date): string[] {
  const isOff = time !== undefined && Math.abs(Date.parse(time) - now.getTime()) > CLOCK_MS
  return isOff ? [...problems, 'clock_off' satisfies ServerProblem] : problems
}

function addHour(
  hours: AgentReport['hours'],
  now: Date,
  grown: { up: number; down: number; connections: number }
): AgentReport['hours'] {
  const at = iso(new Date(Math.floor(now.getTime() / HOUR) * HOUR))
  const oldest = now.getTime() - KEPT_HOURS * HOUR
  const last = hours.at(-1)
  const others = (last?.at === at ? hours.slice(0, -1) : hours).filter(hour => Date.parse(hour.at) > oldest)
  const had = last?.at === at ? last : { up: 0, down: 0, connections: 0 }
  const hour = {
    at,
    up: had.up + grown.up,
    down: had.down + grown.down,
    connections: Math.max(had.connections, grown.connections)
  }
  return [...others, hour]
}
