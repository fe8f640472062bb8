import { PICTURE_CELLS, PICTURE_LEVELS, type AddressFamily } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { bigIdList, familyNumber } from './sql.ts'

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
