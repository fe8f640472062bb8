import { type LocationDay, STATUS_DAYS, type ShopFigures, type StatusLocation, type StatusPage } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { DAY, MINUTE, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { gte, inArray, sql } from '../../infra/db/drizzle.ts'
import { translated } from '../../infra/translations.ts'
import { addressesToLease } from '../inventory/index.ts'
import { countriesOfGroups } from '../servers/index.ts'
import { readPublicIncidents } from './present.ts'
import { type Location, locationWords, readLocations } from './locations.ts'
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

/** The first of the 90 days. */
const statusDaysFrom = (now: Date): string => iso(new Date(now.getTime() - (STATUS_DAYS - 1) * DAY)).slice(0, 10)

type DayMinutes = Minutes & { groupId: number; day: string; servers: number }

/** The content of the status page, with six queries for any number of locations. Its callers share one reply. */
export async function readStatusPage(db: Executor, readChecks: ReadProxyChecks, now: Date): Promise<StatusPage> {
  const days = Array.from({ length: STATUS_DAYS }, (_, at) =>
    iso(new Date(now.getTime() - (STATUS_DAYS - 1 - at) * DAY)).slice(0, 10)
  )
  const from = statusDaysFrom(now)
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
    up: shareUp(together(own)),
    days: days.map(day => presentDay(own.filter(one => one.day === day)))
  }
}

function presentDay(of: readonly DayMinutes[]): LocationDay {
  const all = together(of)
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

const together = (all: readonly Minutes[]): Minutes =>
  all.reduce(
    (sum, one) => ({
      up: sum.up + one.up,
      degraded: sum.degraded + one.degraded,
      down: sum.down + one.down,
      maintenance: sum.maintenance + one.maintenance
    }),
    { up: 0, degraded: 0, down: 0, maintenance: 0 }
  )

/** With fewer orders in a week their median says nothing about the shop. */
const ENOUGH_ORDERS = 5
/** Known minutes that an uptime needs: 100 % of a shop's first minutes would be misleading. */
const ENOUGH_MINUTES = DAY / MINUTE
/** The most names of a country's locations. */
const NAMES = 20

/** Recent delivery times. A higher domain provides them through the composition. */
export type ReadDeliveryTimes = (db: Executor, now: Date) => Promise<{ week: { orders: number; p50: number | null } }>

/** The shop's public figures. Six queries, some over the whole inventory, so its callers share one reply. */
export async function readFigures(db: Executor, readDeliveries: ReadDeliveryTimes, now: Date): Promise<ShopFigures> {
  const locations = await readLocations(db, { onSale: true })
  const stock = await addressesToLease(
    db,
    locations.flatMap(({ groupIds }) => groupIds)
  )
  const { week } = await readDeliveries(db, now)
  return {
    countries: await readCountries(db, locations),
    addresses: roundedDown(stock.ipv4),
    networks: roundedDown(stock.ipv6),
    delivery_seconds: week.orders >= ENOUGH_ORDERS && week.p50 !== null ? Math.round(week.p50) : null,
    uptime: await readUptime(db, now),
    ...locationWords(locations)
  }
}

/** To two digits, below 100 to tens: 8,191 is 8,100, and 99 is 90. */
export function roundedDown(count: number): number {
  const unit = 10 ** Math.max(1, Math.floor(Math.log10(Math.max(count, 1))) - 1)
  return Math.floor(count / unit) * unit
}

/** The countries that operators entered for a location's servers, or else those that its name suggests. */
async function readCountries(db: Executor, locations: readonly Location[]): Promise<ShopFigures['countries']> {
  const places = await countriesOfGroups(
    db,
    locations.flatMap(({ groupIds }) => groupIds)
  )
  const named = new Map<string | null, string[]>()
  for (const { name, groupIds } of locations) {
    const said = new Set(groupIds.flatMap(id => places.get(id) ?? []))
    const codes = said.size > 0 ? [...said] : [countryIn(name) ?? null]
    for (const code of codes) named.set(code, [...(named.get(code) ?? []), name])
  }
  return [...named]
    .map(([code, names]) => ({ code, locations: names.length, names: names.slice(0, NAMES) }))
    .toSorted(
      (a, b) =>
        Number(a.code === null) - Number(b.code === null) ||
        b.locations - a.locations ||
        String(a.code).localeCompare(String(b.code))
    )
}

/** Of the status page's locations, each server once. */
async function readUptime(db: Executor, now: Date): Promise<ShopFigures['uptime']> {
  const groupIds = (await readLocations(db)).flatMap(location => location.groupIds)
  if (groupIds.length === 0) return null
  const from = statusDaysFrom(now)
  const { rows } = await db.execute<Minutes & { days: number }>(sql`
    select coalesce(sum(up), 0)::float8 as up, coalesce(sum(degraded), 0)::float8 as degraded,
      coalesce(sum(down), 0)::float8 as down, coalesce(sum(maintenance), 0)::float8 as maintenance,
      count(distinct day)::int as days
    from (
      select distinct on (server_id, day) * from ${statusDays}
      where ${statusDays.day} >= ${from} and ${inArray(statusDays.groupId, groupIds)}
      order by server_id, day, up + degraded + down + maintenance desc
    ) of_servers`)
  const [row] = rows
  const percent = row && shareUp(row)
  if (!row || percent === null || percent === undefined) return null
  return row.up + row.degraded + row.down >= ENOUGH_MINUTES ? { percent, days: row.days } : null
}
