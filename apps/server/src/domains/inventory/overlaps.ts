import type { OverlapDecision, OverlapWinner } from '@netlet/contract'
import { and, eq, inArray, isNull, or, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { InTransaction } from './cidr-commands.ts'
import {
  type DecidedOverlap,
  denyLists,
  type DenyLists,
  duplicatesOf,
  intersectionsOf,
  type Listing,
  overlapKey,
  overlapsOf
} from './deny-lists.ts'
import { sortedIds } from './sql.ts'
import { aclRules, leases, ruleIntersections, ruleOverlaps } from './tables.ts'

export type NamedListing = Listing & { name: string }

/** Rules that would share a site, and the orders whose leases hold the same addresses under both. */
export type SharedAddresses = { rules: [number, number]; orders: number[] }

/** How all rules on sale relate to each other once one of them is saved. */
export type RulesPlan = {
  rules: NamedListing[]
  duplicates: { domain: string; rules: readonly number[] }[]
  overlaps: DecidedOverlap[]
  /** Pairs of rules with a site in common, ascending. */
  intersections: [number, number][]
}

/** The rules on sale, without their texts. */
async function listings(db: Executor): Promise<NamedListing[]> {
  return db
    .select({ id: aclRules.id, name: aclRules.name, domains: aclRules.domains })
    .from(aclRules)
    .where(isNull(aclRules.deletedAt))
    .orderBy(aclRules.id)
}

async function winners(db: Executor): Promise<Map<string, OverlapWinner | null>> {
  const rows = await db.select().from(ruleOverlaps)
  return new Map(
    rows.map(row => [overlapKey({ narrow: row.narrowRuleId, broad: row.broadRuleId, domain: row.domain }), row.winner])
  )
}

/**
 * Looks at the rules as they are, or with one of them changed.
 * @param change the rule as wanted (added if its id is new), and the decisions about its overlaps
 */
export async function planRules(
  db: Executor,
  change?: { rule: NamedListing; decisions?: readonly OverlapDecision[] | undefined }
): Promise<RulesPlan> {
  const present = await listings(db)
  const rules = change ? [...present.filter(({ id }) => id !== change.rule.id), change.rule] : present
  const before = await winners(db)
  // A decision about one domain overrides one about all.
  const decided = new Map<string, OverlapWinner>()
  for (const { rule_id, domain, winner } of change?.decisions ?? []) decided.set(`${rule_id} ${domain ?? ''}`, winner)
  const overlaps = overlapsOf(rules).map((overlap): DecidedOverlap => {
    const { narrow, broad, domain } = overlap
    const other = narrow === change?.rule.id ? broad : broad === change?.rule.id ? narrow : undefined
    const said = other === undefined ? undefined : (decided.get(`${other} ${domain}`) ?? decided.get(`${other} `))
    return { ...overlap, winner: said ?? before.get(overlapKey(overlap)) ?? null }
  })
  return { rules, duplicates: duplicatesOf(rules), overlaps, intersections: intersectionsOf(rules, overlaps) }
}

/** Pairs of the plan that had no site in common before, although orders hold the same addresses under them. */
export async function newlyShared(db: Executor, plan: RulesPlan): Promise<SharedAddresses[]> {
  const before = await db.select().from(ruleIntersections)
  const known = new Set(before.map(({ ruleId, otherId }) => `${ruleId} ${otherId}`))
  const added = plan.intersections.filter(([one, other]) => !known.has(`${one} ${other}`))
  return sharedAddresses(db, added)
}

/** The pairs of rules under which two leases hold the same address, with the orders of these leases. */
export async function sharedAddresses(db: Executor, pairs: [number, number][]): Promise<SharedAddresses[]> {
  const found: SharedAddresses[] = []
  for (const [one, other] of pairs) {
    const { rows } = await db.execute<{ orderId: number }>(sql`
      with place as materialized (
        select a.chunk_id from rule_usage a join rule_usage b using (chunk_id)
        where a.rule_id = ${one} and b.rule_id = ${other} and bit_count(a.bits & b.bits) > 0
      )
      select distinct unnest(array[la.order_id, lb.order_id]) as "orderId"
      from place
      join lease_blocks a on a.chunk_id = place.chunk_id and a.released_at is null and ${one} = any (a.rules)
      join lease_blocks b on b.chunk_id = place.chunk_id and b.released_at is null and ${other} = any (b.rules)
        and a.start < b.start + b.length and b.start < a.start + a.length
      join leases la on la.id = a.lease_id
      join leases lb on lb.id = b.lease_id and lb.id <> la.id
      order by 1`)
    if (rows.length > 0) found.push({ rules: [one, other], orders: rows.map(row => row.orderId) })
  }
  return found
}

/** Updates the stored overlaps and intersections. The caller holds the inventory alone and has saved the rules. */
export async function saveOverlaps({ tx }: InTransaction, plan: RulesPlan): Promise<void> {
  const { overlaps, intersections } = plan
  // As arrays: a list of rows would need more parameters than a statement may have.
  const wanted = sql`unnest(
    ${sql.param(overlaps.map(overlap => overlap.narrow))}::int[],
    ${sql.param(overlaps.map(overlap => overlap.broad))}::int[],
    ${sql.param(overlaps.map(overlap => overlap.domain))}::text[],
    ${sql.param(overlaps.map(overlap => overlap.winner))}::text[]) as w (narrow_rule_id, broad_rule_id, domain, winner)`
  // Only the differences, because there can be very many and all buyers wait.
  await tx.execute(sql`
    with w as materialized (select * from ${wanted})
    delete from rule_overlaps o where not exists (
      select 1 from w where (w.narrow_rule_id, w.broad_rule_id, w.domain) = (o.narrow_rule_id, o.broad_rule_id, o.domain))`)
  await tx.execute(sql`
    insert into rule_overlaps as o (narrow_rule_id, broad_rule_id, domain, winner)
    select w.* from ${wanted}
    where not exists (
      select 1 from rule_overlaps k
      where (k.narrow_rule_id, k.broad_rule_id, k.domain) = (w.narrow_rule_id, w.broad_rule_id, w.domain)
        and k.winner is not distinct from w.winner)
    on conflict (narrow_rule_id, broad_rule_id, domain) do update set winner = excluded.winner`)

  const both = intersections.flatMap(([one, other]) => [
    { ruleId: one, otherId: other },
    { ruleId: other, otherId: one }
  ])
  await tx.delete(ruleIntersections)
  await tx.execute(sql`
    insert into rule_intersections (rule_id, other_id)
    select * from unnest(
      ${sql.param(both.map(pair => pair.ruleId))}::int[], ${sql.param(both.map(pair => pair.otherId))}::int[])`)
}

/** How many orders hold addresses under each of these rules. Rules without any are left out. */
export async function ordersHolding(db: Executor, ruleIds: number[]): Promise<Map<number, number>> {
  if (ruleIds.length === 0) return new Map()
  const { rows } = await db.execute<{ ruleId: number; orders: number }>(sql`
    select rule_id as "ruleId", count(distinct order_id)::int as orders
    from ${leases}, unnest(rules) as rule_id
    where state <> 'released' and rule_id = any (${sql.param(sortedIds(ruleIds))}::int[])
    group by 1`)
  return new Map(rows.map(row => [row.ruleId, row.orders]))
}

/**
 * What a proxy must not reach if its order bought these rules; the same for every order with these rules. A bought rule
 * counts even if it is no longer on sale.
 */
export async function deniedDomains(db: Executor, { bought }: { bought: number[] }): Promise<DenyLists> {
  const ids = sortedIds(bought)
  const rules = await db
    .select({ id: aclRules.id, domains: aclRules.domains })
    .from(aclRules)
    .where(or(isNull(aclRules.deletedAt), inArray(aclRules.id, ids)))
  const won = await db
    .select({ domain: ruleOverlaps.domain, broad: ruleOverlaps.broadRuleId, winner: ruleOverlaps.winner })
    .from(ruleOverlaps)
    .where(and(eq(ruleOverlaps.winner, 'broad'), inArray(ruleOverlaps.broadRuleId, ids)))
  return denyLists(rules, won, ids)
}
