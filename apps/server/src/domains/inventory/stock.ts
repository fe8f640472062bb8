import type { OrderFamily } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { addressCount } from './ranges.ts'
import { bigIdList, familyNumber, idList } from './sql.ts'

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
