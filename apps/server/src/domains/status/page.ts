import { type LocationDay, STATUS_DAYS, type StatusLocation, type StatusPage } from '@netlet/contract'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { DAY, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { gte, sql } from '../../infra/db/drizzle.ts'
import { translated } from '../../infra/translations.ts'
import { readPublicIncidents } from './present.ts'
import { type Location, readLocations } from './locations.ts'
import {
  type Minutes,
  type ReadProxyChecks,
  type ServerNow,
  dayState,
  locationState,
  readServerStates,
  shareUp,
  worstState
} from './states.ts'
import { statusDays } from './tables.ts'

const dayBefore = (now: Date, days: number): string => iso(new Date(now.getTime() - days * DAY)).slice(0, 10)
/** The first of the 90 days. */
export const firstStatusDay = (now: Date): string => dayBefore(now, STATUS_DAYS - 1)

type DayMinutes = Minutes & { groupId: number; day: string; servers: number }

/** The content of the status page, with six queries for any number of locations. Its callers share one reply. */
export async function readStatusPage(db: Executor, readChecks: ReadProxyChecks, now: Date): Promise<StatusPage> {
  const days = Array.from({ length: STATUS_DAYS }, (_, at) => dayBefore(now, STATUS_DAYS - 1 - at))
  const from = firstStatusDay(now)
  const locations = await readLocations(db)
  const states = await readServerStates(db, readChecks, now)
  const minutes = await readMinutes(db, from)
  const shown = locations.map(location => present(location, { states, minutes, days }))
  const { current, past } = await readPublicIncidents(db, { since: new Date(`${from}T00:00:00.000Z`), now })
  return { at: iso(now), from, state: worstState(shown.map(({ state }) => state)), locations: shown, current, past }
}

/** Minutes by group and day, summed over its servers of that day. */
async function readMinutes(db: Executor, from: string): Promise<DayMinutes[]> {
  const sum = (column: AnyPgColumn) => sql<number>`sum(${column})::int`
  return db
    .select({
      groupId: statusDays.groupId,
      day: statusDays.day,
      servers: sql<number>`count(*)::int`,
      up: sum(statusDays.up),
      degraded: sum(statusDays.degraded),
      down: sum(statusDays.down),
      maintenance: sum(statusDays.maintenance)
    })
    .from(statusDays)
    .where(gte(statusDays.day, from))
    .groupBy(statusDays.groupId, statusDays.day)
}

type Known = { states: readonly ServerNow[]; minutes: readonly DayMinutes[]; days: readonly string[] }

function present({ id, name, translations, groupIds }: Location, { states, minutes, days }: Known): StatusLocation {
  const own = minutes.filter(({ groupId }) => groupIds.includes(groupId))
  // A server in two groups of one location counts once.
  const servers = new Map(states.filter(one => groupIds.includes(one.groupId)).map(one => [one.serverId, one.state]))
  return {
    id,
    name,
    ...translated({ translations }),
    state: locationState([...servers.values()]),
    up: shareUp(sumMinutes(own)),
    days: days.map(day => presentDay(own.filter(one => one.day === day)))
  }
}

function presentDay(of: readonly DayMinutes[]): LocationDay {
  const all = sumMinutes(of)
  const servers = of.reduce((sum, one) => sum + one.servers, 0)
  const average = (minutes: number) => (servers === 0 ? 0 : Math.round(minutes / servers))
  return {
    state: dayState(all),
    up: shareUp(all),
    degraded: average(all.degraded),
    down: average(all.down),
    maintenance: average(all.maintenance)
  }
}

const sumMinutes = (all: readonly Minutes[]): Minutes =>
  all.reduce(
    (sum, one) => ({
      up: sum.up + one.up,
      degraded: sum.degraded + one.degraded,
      down: sum.down + one.down,
      maintenance: sum.maintenance + one.maintenance
    }),
    { up: 0, degraded: 0, down: 0, maintenance: 0 }
  )
