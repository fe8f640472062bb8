import type { AgentReport } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { HOUR, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { startOf } from '../../infra/text.ts'
import type { AgentInfo } from '../../integrations/agent/index.ts'
import { serverReports } from './tables.ts'

/** Hours of traffic that are kept of each server. */
export const KEPT_HOURS = 48

/**
 * Writes down what an agent told of itself. One of before, which tells nothing, leaves no report; where what it tells cannot be
 * right, its last report stays, and says since when.
 */
export async function recordReport({ tx, now }: Unit, serverId: number, info: AgentInfo): Promise<void> {
  if (info.misreported) {
    const since = sql`coalesce(${serverReports.report} -> 'refused_since', to_jsonb(${iso(now)}::text))`
    const report = sql`${serverReports.report} || jsonb_build_object('refused_since', ${since})`
    await tx.update(serverReports).set({ report }).where(eq(serverReports.serverId, serverId))
    return
  }
  if (!info.health) return
  const [before] = await tx.select().from(serverReports).where(eq(serverReports.serverId, serverId))
  const next = reportOf(info, before ?? null, now)
  if (!next) return
  await tx
    .insert(serverReports)
    .values({ serverId, ...next })
    .onConflictDoUpdate({ target: serverReports.serverId, set: next })
}

type Stored = Pick<typeof serverReports.$inferSelect, 'report' | 'counters'>

/** The next report of an agent: its counters begin at 0 with each start, so a shorter uptime counts them whole. */
export function reportOf({ health, load, num_of_users }: AgentInfo, before: Stored | null, now: Date): Stored | null {
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
