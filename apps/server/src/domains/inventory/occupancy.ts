import { refuse, type Occupancy } from '@netlet/contract'
import { and, asc, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { addressCount, parseCidr, rangeAt, unitNumber } from './ranges.ts'
import { liveRules } from './rules.ts'
import { chunks, cidrs } from './tables.ts'

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
