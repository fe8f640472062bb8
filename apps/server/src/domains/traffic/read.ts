import type { Traffic, TrafficStep } from '@netlet/contract'
import { isAgentRefusal } from '@netlet/contract/agent-codes'
import { sql, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { DAY, HOUR, iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { agentUsers } from '../servers/tables.ts'
import { orderTrafficDays, orderTrafficHours, serverTrafficDays, serverTrafficHours, trafficCursors } from './tables.ts'

type Query = { by: TrafficStep; last: number; now: Date }
type Codes = Record<string, number>
type Sums = Record<'up' | 'down' | 'requests' | 'connections', number> & { codes: Codes }

const STEP_MS = { hour: HOUR, day: DAY } as const

/**
 * Traffic of orders, summed by hour or day.
 * @param which a condition of `order_id`, such as `in (select id from orders where …)`; read by its index
 */
export const readOrdersTraffic = (db: Executor, which: (orderId: PgColumn) => SQL, query: Query): Promise<Traffic> => {
  const table = query.by === 'hour' ? orderTrafficHours : orderTrafficDays
  return readTraffic(db, table, which(table.orderId), query, asOfOrders(which))
}

/** Traffic of a server: of all its users, and of clients that never logged in. */
export const readServerTraffic = (db: Executor, serverId: number, query: Query): Promise<Traffic> => {
  const table = query.by === 'hour' ? serverTrafficHours : serverTrafficDays
  const asOf = sql`select ${trafficCursors.readAt} as at from ${trafficCursors} where ${trafficCursors.serverId} = ${serverId}`
  return readTraffic(db, table, sql`${table.serverId} = ${serverId}`, query, asOf)
}

/** Until when all servers that have, or had, users of these orders have been read. */
const asOfOrders = (which: (orderId: PgColumn) => SQL): SQL => sql`
  select case when count(*) = count(c.read_at) then min(c.read_at) end as at
  from (select server_id from ${agentUsers} where ${which(agentUsers.orderId)}
    union select last.server_id from (select server_id from ${orderTrafficDays} where ${which(orderTrafficDays.orderId)}
      and not exists (select 1 from ${agentUsers} where ${which(agentUsers.orderId)})
      order by ${orderTrafficDays.at} desc limit 1) last) server
  left join ${trafficCursors} c on c.server_id = server.server_id`

async function readTraffic(
  db: Executor,
  table: PgTable & { at: PgColumn },
  which: SQL,
  { by, last, now }: Query,
  asOf: SQL
): Promise<Traffic> {
  const step = STEP_MS[by]
  const end = Math.floor(now.getTime() / step) * step
  const from = iso(new Date(end - (last - 1) * step))
  const rowsOf = sql`from ${table} where ${which} and ${table.at} >= ${from}::timestamptz`
  const { rows } = await db.execute<Record<'at' | 'up' | 'down' | 'requests' | 'connections', string>>(sql`
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, sum(up) as up, sum(down) as down,
      sum(requests) as requests, sum(connections) as connections ${rowsOf} group by 1`)
  const { rows: coded } = await db.execute<{ at: string; code: string; count: string }>(sql`
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, code, sum(count::numeric) as count
    from (select at, (jsonb_each_text(codes)).* ${rowsOf} and codes <> '{}') as each(at, code, count) group by 1, 2`)
  const { rows: read } = await db.execute<{ at: Date | string | null }>(asOf)
  const codesAt = Map.groupBy(coded, ({ at }) => at)
  const found = new Map(
    rows.map(row => {
      const codes = Object.fromEntries((codesAt.get(row.at) ?? []).map(({ code, count }) => [code, Number(count)]))
      return [row.at, { ...numbers(row), codes } satisfies Sums]
    })
  )
  const steps = Array.from({ length: last }, (_, n) => {
    const at = iso(new Date(end - (last - 1 - n) * step))
    return { at, ...presented(found.get(at) ?? none) }
  })
  const total = [...found.values()].reduce(added, none)
  const readAt = read[0]?.at ?? null
  return {
    by,
    steps,
    total: presented(total),
    refusals: listed(total.codes, true),
    errors: listed(total.codes, false),
    as_of: isoOrNull(readAt === null ? null : new Date(readAt))
  }
}

const none: Sums = { up: 0, down: 0, requests: 0, connections: 0, codes: {} }

const numbers = (row: Record<'up' | 'down' | 'requests' | 'connections', string>) => ({
  up: Number(row.up),
  down: Number(row.down),
  requests: Number(row.requests),
  connections: Number(row.connections)
})

function added(sum: Sums, more: Sums): Sums {
  const codes = { ...sum.codes }
  for (const [code, count] of Object.entries(more.codes)) codes[code] = (codes[code] ?? 0) + count
  return {
    up: sum.up + more.up,
    down: sum.down + more.down,
    requests: sum.requests + more.requests,
    connections: sum.connections + more.connections,
    codes
  }
}

function listed(codes: Codes, refused: boolean): Traffic['refusals'] {
  return Object.entries(codes)
    .filter(([code]) => isAgentRefusal(code) === refused)
    .map(([code, count]) => ({ code, count }))
    .toSorted((a, b) => b.count - a.count || a.code.localeCompare(b.code))
}

function presented({ codes, ...sums }: Sums): Traffic['total'] {
  const sum = (refused: boolean) => listed(codes, refused).reduce((total, { count }) => total + count, 0)
  return { ...sums, refused: sum(true), failed: sum(false) }
}
