import type { AgentReport, ServerProblem } from '@netlet/contract'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { HOUR, iso, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { startOf } from '../../infra/text.ts'
import type { AgentInfo } from '../../integrations/agent/index.ts'
import { clearRefusals } from './agent-answers.ts'
import { enqueueConverge } from './desired/desired-users.ts'
import { serverReports, servers } from './tables.ts'
import { publishSelling } from './server-row.ts'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { z } from 'zod'

/** What agents that can hand over their connections tell of their program. */
const reported = z.object({
  program_started_at: z.string().max(40),
  takeover: z.object({
    state: z.enum(['none', 'running', 'failed']),
    reason: z.string().nullable(),
    at: z.string().max(40).nullable()
  }),
  // Agents that report no format have that of the first release.
  takeover_format: z.number().default(2),
  settings_format: z.number().default(2)
})

/** What an agent reports of its program; null: it is older, and can only be restarted. */
export type Program = z.infer<typeof reported> | null

export const programIn = (info: unknown): Program => {
  const read = reported.safeParse(info)
  return read.success ? read.data : null
}

/** The settings format that it knows (packages/contract/src/agent-settings.ts). */
const settingsFormatIn = (info: unknown): number => programIn(info)?.settings_format ?? 1

/** Whether this program can hand over to ours. One of another format refuses, and must be restarted. */
export const handsOverToOurs = (program: Program): boolean => program?.takeover_format === TAKEOVER_FORMAT

/** Hours of traffic kept for each server. */
export const KEPT_HOURS = 48

/**
 * Stores what an agent reported about itself. A reply asked for before the stored report came late: it is dropped,
 * because that program may no longer run. An agent too old to report changes nothing. If the figures cannot be right,
 * the last report stays, with the time since when reports have been refused.
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
  // A larger difference means that the clock was set back, not that the reply came late.
  if (newer > 0 && newer < MINUTE) return
  // The real clocks of both machines are compared, because the shop's clock can be shifted.
  const next = reportOf(info, before ?? null, askedAt, new Date())
  if (!next) return
  await tx
    .insert(serverReports)
    .values({ serverId, ...next })
    .onConflictDoUpdate({ target: serverReports.serverId, set: next })
  if (before && before.report.version !== next.report.version) await retryRefusals(unit, serverId)
  // Shop pages show what the server's proxies offer, so they must be refreshed.
  const offered = (report: AgentReport | undefined) => JSON.stringify(report?.certificates ?? null)
  if (offered(before?.report) === offered(next.report)) return
  unit.publish('server', serverId)
  publishSelling(unit)
}

/** A new version of the agent may accept what the old one refused. */
async function retryRefusals(unit: Unit, serverId: number): Promise<void> {
  const again = await clearRefusals(unit, serverId)
  const tls = await unit.tx
    .update(servers)
    .set({ agentSettings: sql`${servers.agentSettings} #- '{proxy_tls,sent}'` })
    .where(
      and(eq(servers.id, serverId), sql`${servers.agentSettings} #> '{proxy_tls,sent,refusal,reason}' is not null`)
    )
    .returning({ id: servers.id })
  if (again || tls.length > 0) enqueueConverge(unit, [serverId])
}

type Stored = Pick<typeof serverReports.$inferSelect, 'report' | 'counters'>

/** The next report of an agent. Its counters start at 0 with each start, so after a restart they count in full. */
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
  // The first report does not say over what time its traffic came about.
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

/** Even a slow check cannot make correct clocks differ by more than this. */
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
