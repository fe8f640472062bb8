import type { ShopFigures } from '@netlet/contract'
import { countryIn } from '@netlet/contract/places'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { inArray, sql } from '../../infra/db/drizzle.ts'
import { addressesToLease } from '../inventory/index.ts'
import { countriesOfGroups } from '../servers/index.ts'
import { type Location, locationWords, readLocations } from './locations.ts'
import { firstStatusDay } from './page.ts'
import { type Minutes, shareUp } from './states.ts'
import { statusDays } from './tables.ts'

/** With fewer orders in a week their median says nothing about the shop. */
const ENOUGH_ORDERS = 5
/** Known minutes that an uptime needs: 100 % of a shop's first minutes would be misleading. */
const ENOUGH_MINUTES = DAY / MINUTE
/** The most names of a country's locations. */
const MOST_NAMES = 20

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
    .map(([code, names]) => ({ code, locations: names.length, names: names.slice(0, MOST_NAMES) }))
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
  const from = firstStatusDay(now)
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
