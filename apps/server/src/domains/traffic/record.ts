import { isIP } from 'node:net'
import type { AgentTrafficChanges } from '@netlet/contract/agent'
import { AGENT_ERRORS, AGENT_REFUSALS } from '@netlet/contract/agent-codes'
import type { PgTable } from 'drizzle-orm/pg-core'
import { DAY, HOUR, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { cidrs } from '../inventory/tables.ts'
import { type QuotaPort, useTraffic } from '../servers/index.ts'
import { agentUsers } from '../servers/tables.ts'
import {
  orderTrafficDays,
  orderTrafficHours,
  serverTrafficDays,
  serverTrafficHours,
  trafficCursors,
  trafficDays,
  trafficHours,
  trafficMarks
} from './tables.ts'

/** The orders whose proxies have these usernames, if they hold an address of the server or held one since then. */
type OrdersOf = (
  db: Executor,
  usernames: string[],
  held: { serverId: number; since: Date }
) => Promise<Map<string, number>>

/** How long an agent may still report an order that has left its server, because it was away before. */
const TOLD_LATE_MS = DAY

/** The name under which an agent counts clients that never logged in. */
const NO_LOGIN = '-'

/** Identifies a counter. */
const keyOf = (username: string, ip: string) => `${username} ${ip}`

/** `orderId`: null for a user made by hand, undefined for clients that never logged in. */
type Whose = { row: TrafficRow; orderId: number | null | undefined }

/**
 * The counters that belong to users and addresses of the agent's own server, with their orders. The rest is dropped:
 * one captured server must not use up the traffic of other orders, or fill tables with invented names.
 */
async function rowsWithOwners(
  { tx, now }: Pick<Unit, 'tx' | 'now'>,
  serverId: number,
  rows: TrafficRow[],
  ordersOf: OrdersOf
): Promise<Whose[]> {
  const since = new Date(now.getTime() - TOLD_LATE_MS)
  const asked = rows.flatMap(({ user, ip }) => (isIP(ip) === 0 ? [] : [{ user, ip }]))
  const held = await tx.execute<{ user: string; ip: string; orderId: string | null; known: boolean }>(sql`
    select r."user", r.ip, a.order_id as "orderId", a.username is not null as known
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as r("user" text, ip text)
    left join ${agentUsers} a on a.server_id = ${serverId} and a.username = r."user"
    where exists (select 1 from unnest(a.prefixes) prefix where prefix::inet >>= r.ip::inet)
      or exists (select 1 from ${cidrs} c where c.server_id = ${serverId} and c.deleted_at is null and c.cidr >>= r.ip::inet)`)
  const gone = [...new Set(held.rows.filter(({ known }) => !known).map(({ user }) => user))]
  const orders = gone.length > 0 ? await ordersOf(tx, gone, { serverId, since }) : new Map<string, number>()
  const found = new Map<string, number | null>()
  for (const { user, ip, orderId, known } of held.rows) {
    const order = known ? (orderId === null ? null : Number(orderId)) : orders.get(user)
    if (order !== undefined) found.set(keyOf(user, ip), order)
  }
  return rows.flatMap((row): Whose[] => {
    if (row.user === NO_LOGIN) return row.ip === NO_LOGIN ? [{ row: withKnownCodes(row), orderId: undefined }] : []
    const orderId = found.get(keyOf(row.user, row.ip))
    return orderId === undefined ? [] : [{ row: withKnownCodes(row), orderId }]
  })
}

const KNOWN: ReadonlySet<string> = new Set([...AGENT_REFUSALS, ...AGENT_ERRORS])
/** Codes that this version does not know: of newer agents, or invented. */
const OTHER = 'other'

function withKnownCodes(row: TrafficRow): TrafficRow {
  const codes: Record<string, number> = {}
  for (const [code, count] of Object.entries(row.codes)) {
    const name = KNOWN.has(code) ? code : OTHER
    codes[name] = Math.min(Number.MAX_SAFE_INTEGER, (codes[name] ?? 0) + count)
  }
  return { ...row, codes }
}

export type TrafficPorts = {
  ordersOf: OrdersOf
  notifyQuota: QuotaPort
}

type Page = { serverId: number; asked: { epoch: string; cursor: number }; page: AgentTrafficChanges }
/** What a user's counter grew by. `orderId`: null for a user made by hand, undefined without a login. */
type Grown = Counts & { username: string; ip: string; hour: Date; orderId: number | null | undefined }

/**
 * Counts one page of an agent's counters once. If another run has counted on from the same place, or the page is not
 * the one asked for, nothing happens.
 * @returns whether it counted
 */
export async function recordPage(unit: Unit, { serverId, asked, page }: Page, ports: TrafficPorts): Promise<boolean> {
  const { tx, now } = unit
  await tx.insert(trafficCursors).values({ serverId }).onConflictDoNothing()
  const [cursor] = await tx.select().from(trafficCursors).where(eq(trafficCursors.serverId, serverId)).for('update')
  if (!cursor || cursor.epoch !== asked.epoch || cursor.cursor !== asked.cursor) return false
  // If a page has a counter twice, the later one counts.
  const told = [...new Map(page.rows.map(row => [keyOf(row.user, row.ip), row])).values()]
  const rows = await rowsWithOwners(unit, serverId, told, ports.ordersOf)
  const marks = await readMarks(
    tx,
    serverId,
    rows.map(({ row }) => row)
  )
  const most = mostSince(cursor.readAt, now)
  const first = cursor.readAt === null
  const marked: (Mark & { username: string; ip: string })[] = []
  const grown: Grown[] = []
  for (const { row, orderId } of rows) {
    const { user: username, ip } = row
    const before = marks.get(keyOf(username, ip))
    // The hours of what an agent counted before it was first asked are unknown.
    const baseline = first && now.getTime() - Date.parse(row.since) > HOUR
    const increment = incrementOf(row, before, { baseline, sameEpoch: page.epoch === asked.epoch })
    marked.push({ username, ip, ...increment.mark })
    if (isNothing(increment.grown)) continue
    const { up, down } = increment.grown
    const bytes = { up: Math.min(most, up), down: Math.min(most, down) }
    const hour = hourOf(row.changed, { readAt: cursor.readAt, now })
    grown.push({ username, ip, orderId, hour, ...increment.grown, ...bytes })
  }
  await writeMarks(tx, serverId, marked, now)
  await count(unit, serverId, grown, ports)
  await tx
    .update(trafficCursors)
    // Set only once everything was read. Until then, counters from before the first read still arrive.
    .set({ epoch: page.epoch, cursor: page.cursor, readAt: page.more ? cursor.readAt : now })
    .where(eq(trafficCursors.serverId, serverId))
  return true
}

/** Bytes a second: 100 Gbit. No address carries more, whatever its agent reports. */
const LINE = 12_500_000_000
const mostSince = (readAt: Date | null, now: Date): number =>
  LINE * ((readAt ? Math.max(0, now.getTime() - readAt.getTime()) : HOUR) / 1000 + 60)

async function readMarks(tx: Executor, serverId: number, rows: TrafficRow[]): Promise<Map<string, Mark>> {
  if (rows.length === 0) return new Map()
  const found = await tx
    .select()
    .from(trafficMarks)
    .where(
      and(
        eq(trafficMarks.serverId, serverId),
        sql`(${trafficMarks.username}, ${trafficMarks.ip}) in (select * from unnest(
          ${sql.param(rows.map(row => row.user))}::text[], ${sql.param(rows.map(row => row.ip))}::text[]))`
      )
    )
  return new Map(found.map(mark => [keyOf(mark.username, mark.ip), mark]))
}

async function writeMarks(
  tx: Executor,
  serverId: number,
  marked: (Mark & { username: string; ip: string })[],
  now: Date
): Promise<void> {
  if (marked.length === 0) return
  await tx.execute(sql`
    insert into ${trafficMarks} (server_id, username, ip, since, up, down, requests, connections, codes, changed_at)
    select ${serverId}, username, ip, since, up, down, requests, connections, codes, ${iso(now)}::timestamptz
    from ${recordset(marked)} as r(username text, ip text, since text, up bigint, down bigint, requests bigint,
      connections bigint, codes jsonb)
    on conflict (server_id, username, ip) do update set since = excluded.since, up = excluded.up, down = excluded.down,
      requests = excluded.requests, connections = excluded.connections, codes = excluded.codes,
      changed_at = excluded.changed_at`)
}

const recordset = (rows: readonly object[]) => sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`

async function count(unit: Unit, serverId: number, grown: Grown[], { notifyQuota }: TrafficPorts): Promise<void> {
  if (grown.length === 0) return
  const { tx } = unit
  const ofUsers = grown.filter(one => one.orderId !== undefined)
  await addUsage(tx, trafficHours, serverId, ofUsers, HOUR)
  await addUsage(tx, trafficDays, serverId, ofUsers, DAY)
  await addSums(tx, serverTrafficHours, serverId, grown, { step: HOUR })
  await addSums(tx, serverTrafficDays, serverId, grown, { step: DAY })
  const ofOrders = ofUsers.flatMap(one => (one.orderId === null ? [] : [one]))
  await addSums(tx, orderTrafficHours, serverId, ofOrders, { step: HOUR, byOrder: true })
  await addSums(tx, orderTrafficDays, serverId, ofOrders, { step: DAY, byOrder: true })
  const used = ofUsers.flatMap(({ orderId, username, up, down }) =>
    orderId === null || orderId === undefined ? [] : [{ orderId, username, bytes: up + down }]
  )
  await useTraffic(unit, serverId, used, notifyQuota)
}

/** A number holds sums up to this exactly. They never grow beyond it, whatever an agent reports. */
const MOST = 9_000_000_000_000_000
const added = (table: PgTable) =>
  sql.join(
    [
      ...FIGURES.map(
        name =>
          sql`${sql.identifier(name)} = least(${MOST}, ${table}.${sql.identifier(name)} + excluded.${sql.identifier(name)})`
      ),
      sql`codes = add_counts(${table}.codes, excluded.codes)`
    ],
    sql`, `
  )

const startOf = (hour: Date, step: number) => iso(new Date(Math.floor(hour.getTime() / step) * step))

async function addUsage(tx: Executor, table: PgTable, serverId: number, grown: Grown[], step: number): Promise<void> {
  if (grown.length === 0) return
  const rows = grown.map(({ hour, ...one }) => ({ ...one, at: startOf(hour, step) }))
  await tx.execute(sql`
    insert into ${table} (at, server_id, username, ip, order_id, up, down, requests, connections, codes)
    select at, ${serverId}, username, ip, "orderId", up, down, requests, connections, codes
    from ${recordset(rows)} as r(at timestamptz, username text, ip text, "orderId" bigint, up bigint, down bigint,
      requests bigint, connections bigint, codes jsonb)
    on conflict (at, server_id, username, ip) do update set ${added(table)}`)
}

/** Sums by server, or by order and server. */
async function addSums(
  tx: Executor,
  table: PgTable,
  serverId: number,
  grown: Grown[],
  { step, byOrder = false }: { step: number; byOrder?: boolean }
): Promise<void> {
  if (grown.length === 0) return
  type Sum = Omit<Counts, 'codes'> & { at: string; orderId: number | null; codes: Map<string, number> }
  const sums = new Map<string, Sum>()
  for (const one of grown) {
    const at = startOf(one.hour, step)
    const orderId = byOrder ? (one.orderId ?? null) : null
    const key = `${orderId} ${at}`
    const sum = sums.get(key) ?? { at, orderId, up: 0, down: 0, requests: 0, connections: 0, codes: new Map() }
    for (const name of FIGURES) sum[name] = Math.min(MOST, sum[name] + one[name])
    for (const [code, more] of Object.entries(one.codes))
      sum.codes.set(code, Math.min(MOST, (sum.codes.get(code) ?? 0) + more))
    sums.set(key, sum)
  }
  const rows = Array.from(sums.values(), sum => ({ ...sum, codes: Object.fromEntries(sum.codes) }))
  const [column, value, key] = byOrder
    ? [sql`order_id, `, sql`"orderId", `, sql`order_id, at, server_id`]
    : [sql``, sql``, sql`server_id, at`]
  await tx.execute(sql`
    insert into ${table} (${column}at, server_id, up, down, requests, connections, codes)
    select ${value}at, ${serverId}, up, down, requests, connections, codes
    from ${recordset(rows)} as r("orderId" bigint, at timestamptz, up bigint, down bigint, requests bigint,
      connections bigint, codes jsonb)
    on conflict (${key}) do update set ${added(table)}`)
}

type TrafficRow = AgentTrafficChanges['rows'][number]
export type Mark = Pick<typeof trafficMarks.$inferSelect, 'since' | 'codes' | Figure>
type Figure = (typeof FIGURES)[number]
export type Counts = Record<Figure, number> & { codes: Record<string, number> }

const FIGURES = ['up', 'down', 'requests', 'connections'] as const
/** More than any line carries between two reads, so a larger figure is wrong. */
const MOST_BYTES = 1e15

/**
 * What a counter grew by since it was last read, and its new mark. A counter with another start counts in full. One
 * that is behind its mark is an older copy, which counts once it is ahead again.
 * @param baseline it began before we counted, so it is only remembered
 */
export function incrementOf(
  row: TrafficRow,
  mark: Mark | undefined,
  { baseline, sameEpoch }: { baseline: boolean; sameEpoch: boolean }
): { grown: Counts; mark: Mark } {
  if (mark && sameEpoch && row.since < mark.since) return { grown: nothing(), mark }
  // An earlier start after a later one is a restored folder. All of it was read before.
  const isOlder = mark !== undefined && row.since < mark.since
  const had = mark?.since === row.since ? mark : null
  const [grown, next] = [nothing(), nothing()]
  for (const name of FIGURES) {
    const before = had?.[name] ?? 0
    next[name] = Math.max(before, row[name])
    grown[name] = Math.min(MOST_BYTES, next[name] - before)
  }
  const codes = [new Map(Object.entries(had?.codes ?? {})), new Map(Object.entries(row.codes))] as const
  for (const code of new Set([...codes[0].keys(), ...codes[1].keys()])) {
    const before = codes[0].get(code) ?? 0
    const now = Math.max(before, codes[1].get(code) ?? 0)
    next.codes[code] = now
    if (now > before) grown.codes[code] = Math.min(MOST_BYTES, now - before)
  }
  return { grown: (baseline || isOlder) && !had ? nothing() : grown, mark: { since: row.since, ...next } }
}

const nothing = (): Counts => ({ up: 0, down: 0, requests: 0, connections: 0, codes: {} })

export const isNothing = (counts: Counts): boolean =>
  FIGURES.every(name => counts[name] === 0) && Object.keys(counts.codes).length === 0

/** The hour in which a counter last changed, by the agent's clock, but not before its last read and not after now. */
export function hourOf(changed: string, { readAt, now }: { readAt: Date | null; now: Date }): Date {
  const earliest = readAt?.getTime() ?? now.getTime() - HOUR
  const at = Math.min(now.getTime(), Math.max(earliest, Date.parse(changed)))
  return new Date(Math.floor(at / HOUR) * HOUR)
}
