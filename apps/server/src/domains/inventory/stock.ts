import {
  type AddressFamily,
  type Occupancy,
  type OrderFamily,
  PICTURE_CELLS,
  PICTURE_LEVELS,
  refuse
} from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import { addressCount, parseCidr, rangeAt, unitNumber } from './ranges.ts'
import { liveRules } from './rules.ts'
import { bigIdList, familyNumber, idList } from './sql.ts'
import { chunks, cidrs } from './tables.ts'

/** Addresses in a block. A variant sells whole blocks. */
export type Step = 1 | 8 | 16 | 32 | 64 | 128 | 256

const steps: readonly Step[] = [1, 8, 16, 32, 64, 128, 256]

export type RuleStock = {
  ruleId: number
  /** Addresses in free aligned blocks of the step. */
  stock: number
}

/**
 * Stock of every live rule in a server group, in addresses: each rule alone, or together with the selected ones. The
 * figures may change at once: `reserve` looks again.
 * @param family `any` counts IPv4 addresses and IPv6 /64s together
 */
export async function stockByRule(
  db: Executor,
  {
    groupId,
    step,
    selected = [],
    family = 'ipv4'
  }: { groupId: number; step: number; selected?: number[]; family?: OrderFamily }
): Promise<RuleStock[]> {
  const { rows } = await db.execute<{ ruleId: number; stock: number }>(
    sql`select rule_id as "ruleId", stock from inventory.stock_by_rule(${groupId}, ${step}, ${idList(selected)}, ${familyNumber(family)}) order by 1`
  )
  return rows
}

/**
 * Addresses in free aligned blocks that are free for all the rules at once.
 * @param avoid servers whose addresses do not count
 */
export async function stockForRules(
  db: Executor,
  {
    groupId,
    step,
    rules,
    avoid = [],
    family = 'ipv4'
  }: { groupId: number; step: number; rules: number[]; avoid?: number[]; family?: OrderFamily }
): Promise<number> {
  // No rule has this id, and it does not fit the database's integer.
  if (rules.some(rule => rule > 2 ** 31 - 1)) return 0
  const { rows } = await db.execute<{ stock: number }>(
    sql`select inventory.stock(${groupId}, ${step}, ${idList(rules)}, ${bigIdList(avoid)}, ${familyNumber(family)}) as stock`
  )
  return rows[0]?.stock ?? 0
}

/**
 * Free addresses of these ranges under every live rule, each alone, even if no server sells them. A range that does not
 * exist yet is free as a whole.
 * @param without ranges whose addresses do not count
 */
export async function stockOfRangesByRule(
  db: Executor,
  { ranges, without = [] }: { ranges: string[]; without?: string[] }
): Promise<RuleStock[]> {
  const [asked, left] = [sql`${sql.param(ranges)}::cidr[]`, sql`${sql.param(without)}::inet[]`]
  const { rows: missing } = await db.execute<{ cidr: string }>(sql`
    select range::text as cidr from unnest(${asked}) as range
    where not range::inet <<= any(${left})
      and not exists (select 1 from cidrs where cidr = range and deleted_at is null)`)
  const fresh = missing.reduce((sum, { cidr }) => sum + addressCount(cidr), 0)
  const { rows } = await db.execute<RuleStock>(sql`
    select r.id as "ruleId", coalesce(present.free, 0)::float8 + ${fresh}::float8 as stock
    from acl_rules r cross join lateral (
      select sum(length(usage.bits) - bit_count(usage.bits)) as free from (
        select bit_or(u.bits) as bits
        from cidrs range
        join chunks c on c.cidr_id = range.id and not r.id = any(c.excluded_rules) and not c.base <<= any(${left})
        join rule_usage u on u.chunk_id = c.id and u.rule_id = any(inventory.intersecting(array[r.id]))
        where range.cidr = any(${asked}) and range.deleted_at is null
        group by c.id) usage) present
    where r.deleted_at is null order by 1`)
  return rows
}

/** The largest step that a range of this family in the group can hold; 0 if the group has none. */
export async function maxStep(db: Executor, groupId: number, family: OrderFamily = 'ipv4'): Promise<Step | 0> {
  const { rows } = await db.execute<{ size: number }>(sql`
    select coalesce(max(c.size), 0) as size
    from inventory.sellers s join chunks c on c.server_id = s.server_id
    where s.group_id = ${groupId} and not c.base <<= any(s.refused_ranges)
      and ${familyNumber(family)} in (0, family(c.base))`)
  const size = rows[0]?.size ?? 0
  return steps.findLast(step => step <= size) ?? 0
}

/**
 * Addresses of these groups that are free under at least one rule on sale: IPv4 addresses, and IPv6 /64s. Each counts
 * once, even if several groups have it. A range counts what the rule with the most free has.
 */
export async function addressesToLease(db: Executor, groupIds: number[]): Promise<{ ipv4: number; ipv6: number }> {
  if (groupIds.length === 0) return { ipv4: 0, ipv6: 0 }
  const { rows } = await db.execute<{ family: 4 | 6; free: number }>(sql`
    with ours as (
      select distinct c.id, c.size, c.excluded_rules, family(c.base) as family
      from inventory.sellers s join chunks c on c.server_id = s.server_id
      where s.group_id = any(${bigIdList(groupIds)}) and not c.base <<= any(s.refused_ranges)
    ), sold as materialized (
      select id, inventory.intersecting(array[id]) as taken_by from acl_rules where deleted_at is null and valid
    ), best as (
      select c.id, c.family, max(c.size - bit_count(u.bits)) as free
      from ours c join sold r on not r.id = any(c.excluded_rules)
      cross join lateral (
        select bit_or(bits) as bits from rule_usage where chunk_id = c.id and rule_id = any(r.taken_by)
      ) u
      group by c.id, c.family
    )
    select family, sum(free)::float8 as free from best group by family`)
  const free = (family: 4 | 6) => rows.find(row => row.family === family)?.free ?? 0
  return { ipv4: free(4), ipv6: free(6) }
}

/** The most blocks of a picture. */
const BLOCKS = 256

type Figures = { leased: number; held: number; resting: number; blocked: number }
type Line = Figures & { kind: 'rule' | 'block'; id: number }

/** Units of one chunk, from `first`, that lie at `offset` of the shown range or part. */
type Place = { chunk: number; size: number; first: number; units: number; offset: number }

/**
 * How a range, or a part of it, is used: as `blocks` of equal size, and by rule. It reads bit strings and the blocks
 * that are held or at rest now, so the length of the history does not matter.
 */
export async function occupancyOf(
  { db }: AppContext,
  id: number,
  { rule, part }: { rule?: number | undefined; part?: string | undefined }
): Promise<Result<Omit<Occupancy, 'server'> & { serverId: number | null }>> {
  const [range] = await db
    .select()
    .from(cidrs)
    .where(and(eq(cidrs.id, id), isNull(cidrs.deletedAt)))
  if (!range) return refuse('not_found')
  const rules = await liveRules(db)
  const chosen = rules.find(one => one.id === rule)
  if (rule !== undefined && !chosen) return refuse('not_found')
  const window = windowOf(range.cidr, part)
  if (!window.ok) return fieldRefusal('part', 'invalid_lines', { problem: window.problem })
  const units = window.units
  const size = Math.max(1, units / BLOCKS)
  const places = await placesOf(db, range, window)
  const lines = await count(db, places, { size, rule: chosen?.id ?? null })
  const freeOf = (total: number, { leased, held, resting, blocked }: Figures) =>
    total - leased - held - resting - blocked
  const blocks = new Map(lines.filter(({ kind }) => kind === 'block').map(line => [line.id, line]))
  const byRule = new Map(lines.filter(({ kind }) => kind === 'rule').map(line => [line.id, line]))
  const figures = (total: number, line: Line | undefined) => {
    const { leased, held, resting, blocked } = line ?? { leased: 0, held: 0, resting: 0, blocked: 0 }
    return { leased, held, resting, blocked, free: freeOf(total, { leased, held, resting, blocked }) }
  }
  return ok({
    cidr: range.cidr,
    serverId: range.serverId,
    part: rangeAt(window.base, 0, units),
    units,
    block_units: size,
    rule: chosen ? { id: chosen.id, name: chosen.name } : null,
    blocks: Array.from({ length: units / size }, (_, nth) => ({
      part: rangeAt(window.base, nth * size, size),
      ...figures(size, blocks.get(nth))
    })),
    rules: rules.map(({ id, name }) => ({
      id,
      name,
      excluded: range.excludedRules.includes(id),
      ...figures(units, byRule.get(id))
    }))
  })
}

type Window = { ok: true; base: string; units: number } | { ok: false; problem: string }

function windowOf(cidr: string, part: string | undefined): Window {
  const [base = ''] = cidr.split('/')
  const units = addressCount(cidr)
  if (!part) return { ok: true, base, units }
  const parsed = parseCidr(part)
  if (!parsed.ok) return { ok: false, problem: parsed.message }
  const [start = ''] = parsed.cidr.split('/')
  const outside = { ok: false, problem: `${part} is not in ${cidr}` } as const
  if (start.includes(':') !== base.includes(':')) return outside
  const nth = unitNumber(start) - unitNumber(base)
  return nth >= 0 && nth + parsed.units <= units ? { ok: true, base: start, units: parsed.units } : outside
}

async function placesOf(
  db: Executor,
  range: { id: number; cidr: string },
  window: { base: string; units: number }
): Promise<Place[]> {
  const rows = await db
    .select({ id: chunks.id, size: chunks.size, base: sql<string>`host(${chunks.base})` })
    .from(chunks)
    .where(eq(chunks.cidrId, range.id))
    .orderBy(asc(chunks.id))
  const start = unitNumber(window.base)
  return rows.flatMap(({ id, size, base }) => {
    const at = unitNumber(base)
    const first = Math.max(start - at, 0)
    const units = Math.min(start + window.units - at, size) - first
    return units > 0 ? [{ chunk: id, size, first, units, offset: at + first - start }] : []
  })
}

/**
 * One statement. The bits of a rule show what is taken. The few units that are held or at rest are read from the blocks
 * themselves. For all rules together a unit counts once: leased before held before resting.
 */
async function count(
  db: Executor,
  places: Place[],
  { size, rule }: { size: number; rule: number | null }
): Promise<Line[]> {
  const column = (name: keyof Place) => sql`${sql.param(places.map(place => place[name]))}::int[]`
  const part = (bits: string) => sql`bit_count(substring(${sql.raw(bits)} from p.first + 1 for p.units))`
  const cell = (bits: string) =>
    sql`bit_count(substring(${sql.raw(bits)} from p.first + n * ${size}::int + 1 for ${size}::int))`
  const { rows } = await db.execute<Line>(sql`
    with p as materialized (
      select * from unnest(${column('chunk')}, ${column('size')}, ${column('first')}, ${column('units')}, ${column('offset')})
        as p (chunk, size, first, units, "offset")
    ), passing as (
      select b.chunk_id, b.start, b.length, b.rules, true as held
      from leases l join lease_blocks b on b.lease_id = l.id
      where l.state = 'reserved' and b.released_at is null
      union all
      select b.chunk_id, b.start, b.length, b.rules, false from lease_blocks b where b.rests_until is not null
    ), soft as materialized (
      select p.chunk, rule_id, bit_or(mask) filter (where held) as held, bit_or(mask) filter (where not held) as resting
      from p join passing b on b.chunk_id = p.chunk
      cross join lateral (
        select (substring(~B'0'::bit(4096) from 1 for p.size) << (p.size - b.length)) >> b.start as mask
      ) bits
      cross join unnest(b.rules) as rule_id
      group by 1, 2
    ), used as materialized (
      select p.chunk, u.rule_id, u.bits as taken,
        coalesce(s.held, none) as held, coalesce(s.resting, none) as resting,
        coalesce((
          select bit_or(o.bits) from rule_intersections i
          join rule_usage o on o.chunk_id = u.chunk_id and o.rule_id = i.other_id where i.rule_id = u.rule_id
        ), none) & ~u.bits as blocked
      from p
      join rule_usage u on u.chunk_id = p.chunk
      cross join lateral (select u.bits & ~u.bits as none) nothing
      left join soft s on s.chunk = p.chunk and s.rule_id = u.rule_id
    ), shown as materialized (
      select chunk, leased, held & ~leased as held, resting & ~leased & ~held as resting, blocked from (
        select chunk, bit_or(taken & ~(held | resting)) as leased, bit_or(held) as held, bit_or(resting) as resting,
          case when ${rule}::int is null then bit_or(taken & ~taken) else bit_or(blocked) end as blocked
        from used where ${rule}::int is null or rule_id = ${rule}::int group by 1
      ) merged
    )
    select 'rule' as kind, rule_id as id,
      sum(${part('taken & ~(held | resting)')})::int as leased, sum(${part('held')})::int as held,
      sum(${part('resting')})::int as resting, sum(${part('blocked')})::int as blocked
    from used u join p on p.chunk = u.chunk group by rule_id
    union all
    select 'block', p."offset" / ${size}::int + n,
      ${cell('leased')}::int, ${cell('held')}::int, ${cell('resting')}::int, ${cell('blocked')}::int
    from p join shown on shown.chunk = p.chunk cross join generate_series(0, p.units / ${size}::int - 1) as n`)
  return rows
}

/** The fewest addresses in a cell. With fewer, a picture would reveal single sales. */
const SMALLEST = 16

/**
 * How much of what these groups sell from is leased under any rule, as cells of one size, to the nearest quarter (0 to
 * 4). Addresses that are held for an order or at rest count as leased. Ranges are sorted by size, then by address, so
 * each begins at a multiple of its size, and a cell lies within one range or has whole ranges.
 */
export async function pictureOf(
  db: Executor,
  sources: readonly { groupId: number; family: AddressFamily }[]
): Promise<number[]> {
  if (sources.length === 0) return []
  const groups = bigIdList(sources.map(({ groupId }) => groupId))
  const families = sql`${sql.param(sources.map(({ family }) => familyNumber(family)))}::int[]`
  const { rows } = await db.execute<{ leased: number; units: number }>(sql`
    with ours as (
      select distinct c.id, c.size, c.base
      from unnest(${groups}, ${families}) as asked (group_id, family)
      join inventory.sellers s on s.group_id = asked.group_id
      join chunks c on c.server_id = s.server_id and family(c.base) = asked.family
    ), placed as materialized (
      select id, size, sum(size) over (order by size desc, base, id) - size as at, sum(size) over () as total from ours
    ), sized as (
      select *, greatest(${SMALLEST}::int, power(2, ceil(log(2, total::numeric / ${PICTURE_CELLS}::int)))::int) as cell from placed
    ), used as materialized (
      select u.chunk_id, bit_or(u.bits) as bits from rule_usage u join placed p on p.id = u.chunk_id group by 1
    )
    select sum(bit_count(substring(u.bits from n * least(size, cell) + 1 for least(size, cell))))::int as leased,
      sum(least(size, cell))::int as units
    from sized join used u on u.chunk_id = sized.id
    cross join generate_series(0, greatest(size / cell, 1) - 1) as n
    group by floor((at + n * least(size, cell)) / cell) order by floor((at + n * least(size, cell)) / cell)`)
  return rows
    .filter(({ units }) => units >= SMALLEST)
    .map(({ leased, units }) => Math.round((leased / units) * PICTURE_LEVELS))
}
