import { type RangeEffect, type RuleEffect, type Translations, refuse } from '@netlet/contract'
import { and, asc, eq, inArray, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { idList, sortedIds } from './sql.ts'
import { aclGroupRules, aclGroups, aclRules, cidrs } from './tables.ts'

/** The names of all rules that ever existed, by id, because orders may name a deleted one. */
export async function ruleNames(db: Executor): Promise<Map<number, string>> {
  const rows = await db.select({ id: aclRules.id, name: aclRules.name }).from(aclRules)
  return new Map(rows.map(row => [row.id, row.name]))
}

/** The same, with their names in other languages. */
export async function ruleTexts(db: Executor): Promise<Map<number, { name: string; translations: Translations }>> {
  const columns = { id: aclRules.id, name: aclRules.name, translations: aclRules.translations }
  return new Map((await db.select(columns).from(aclRules)).map(({ id, ...texts }) => [id, texts]))
}

const notSoldOut = ne(aclRules.platformStock, 'sold_out')

/** The rules with these ids that are on sale, here and on the platform, with their prices. */
export async function rulesById(db: Executor, ids: number[]) {
  // int4: a larger number is no id, and would be an error of the database.
  const possible = ids.filter(id => id <= 2_147_483_647)
  if (possible.length === 0) return []
  return db
    .select({
      id: aclRules.id,
      name: aclRules.name,
      price: aclRules.price,
      platformVariantId: aclRules.platformVariantId,
      platformStock: aclRules.platformStock
    })
    .from(aclRules)
    .where(and(inArray(aclRules.id, possible), isNull(aclRules.deletedAt), aclRules.valid, notSoldOut))
}

/** Rules that can be bought, oldest first: on sale here and on the platform. */
export const sellableRules = (db: Executor) =>
  db
    .select()
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), aclRules.valid, notSoldOut))
    .orderBy(asc(aclRules.id))

/** The prices of the rules on sale, by id. */
export async function rulePrices(db: Executor): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .select({ id: aclRules.id, price: aclRules.price })
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), aclRules.valid, notSoldOut))
  return new Map(rows.map(({ id, price }) => [id, price]))
}

/** Units to sell under a rule, in chunks `c` with its usage `u`: free under all rules that intersect it too. */
const sellable = sql`bit_count(~(u.bits | coalesce((
  select bit_or(o.bits) from rule_intersections i join rule_usage o on o.chunk_id = u.chunk_id and o.rule_id = i.other_id
  where i.rule_id = u.rule_id), u.bits)))`

/** What a new list of excluded rules would do to a range's stock and orders. */
export async function rangeEffect({ db }: AppContext, id: number, wanted: number[]): Promise<Result<RangeEffect>> {
  const [range] = await db
    .select()
    .from(cidrs)
    .where(and(eq(cidrs.id, id), isNull(cidrs.deletedAt)))
  if (!range) return refuse('not_found')
  const names = await ruleNames(db)
  const known = await db.$count(aclRules, and(inArray(aclRules.id, wanted), isNull(aclRules.deletedAt)))
  const [before, after] = [new Set(range.excludedRules), new Set(wanted)]
  if (known < after.size && [...after].some(rule => !names.has(rule))) return fieldRefusal('exclude_acl', 'choice_gone')
  const named = (rule: number) => ({ id: rule, name: names.get(rule) ?? `#${rule}` })
  const excluded = sortedIds(wanted.filter(rule => !before.has(rule)))
  const allowed = sortedIds(range.excludedRules.filter(rule => !after.has(rule)))
  const concerned = idList([...excluded, ...allowed])
  const { rows: stock } = await db.execute<{ rule: number; free: number; taken: number }>(sql`
    select u.rule_id as rule, sum(${sellable})::int as free, sum(bit_count(u.bits))::int as taken
    from chunks c join rule_usage u on u.chunk_id = c.id
    where c.cidr_id = ${id} and u.rule_id = any (${concerned}) group by 1`)
  // The row without a rule is the total.
  const { rows: holders } = await db.execute<{ rule: number | null; orders: number; leased: number }>(sql`
    select rule, count(distinct l.order_id)::int as orders, sum(b.length)::int as leased
    from leases l
    join lease_blocks b on b.lease_id = l.id and b.released_at is null
    join chunks c on c.id = b.chunk_id
    cross join unnest(b.rules) as rule
    where l.state <> 'released' and c.cidr_id = ${id} and rule = any (${idList(excluded)})
    group by grouping sets ((rule), ())`)
  const freeOf = (rule: number) => stock.find(row => row.rule === rule)?.free ?? 0
  const heldOf = (rule: number | null) => holders.find(row => row.rule === rule)
  return ok({
    sells: range.serverId !== null,
    excluded: excluded.map(rule => ({
      ...named(rule),
      free: freeOf(rule),
      leased: heldOf(rule)?.leased ?? 0,
      orders: heldOf(rule)?.orders ?? 0
    })),
    allowed: allowed.map(rule => ({ ...named(rule), free: freeOf(rule) })),
    orders: heldOf(null)?.orders ?? 0
  })
}

/** What deleting a rule would do. */
export async function ruleRemoval({ db }: AppContext, id: number): Promise<Result<RuleEffect>> {
  const [rule] = await db
    .select({ domains: aclRules.domains })
    .from(aclRules)
    .where(and(eq(aclRules.id, id), isNull(aclRules.deletedAt)))
  if (!rule) return refuse('not_found')
  return ok(await ruleEffect(db, id, { before: rule.domains, after: [], decided: false }))
}

type Change = { before: readonly string[]; after: readonly string[]; decided: boolean }

/**
 * What a new list of domains would do to stock, orders and agents.
 * @param id null: the rule is new
 * @param change `decided`: decisions about overlaps change too
 */
export async function ruleEffect(db: Executor, id: number | null, change: Change): Promise<RuleEffect> {
  const [before, after] = [new Set(change.before), new Set(change.after)]
  const added = [...after].filter(domain => !before.has(domain)).length
  const removed = [...before].filter(domain => !after.has(domain)).length
  const [live] = (
    await db.execute<{ orders: number; unpaid: number; addresses: number; others: number }>(sql`
      select count(distinct order_id) filter (where own)::int as orders,
        count(distinct order_id) filter (where own and state = 'reserved')::int as unpaid,
        coalesce(sum(blocks::bigint * step) filter (where own), 0)::int as addresses,
        count(distinct order_id) filter (where not own)::int as others
      from (select order_id, state, blocks, step, coalesce(${id}::int = any (rules), false) as own
        from leases where state <> 'released') live`)
  ).rows
  const [places] = (
    await db.execute<{ free: number; agents: number }>(sql`
      select coalesce(sum(case when ${id}::int is null then c.size when ${id}::int = any (c.excluded_rules) then 0
          else (select ${sellable} from rule_usage u where u.chunk_id = c.id and u.rule_id = ${id}::int) end), 0)::int as free,
        count(distinct c.server_id) filter (where exists (
          select 1 from rule_usage u where u.chunk_id = c.id and bit_count(u.bits) > 0))::int as agents
      from chunks c where c.server_id is not null`)
  ).rows
  const groups = await db
    .select({ id: aclGroups.id, name: aclGroups.name })
    .from(aclGroupRules)
    .innerJoin(aclGroups, eq(aclGroups.id, aclGroupRules.groupId))
    .where(eq(aclGroupRules.ruleId, id ?? 0))
    .orderBy(asc(aclGroups.id))
  const changes = added > 0 || removed > 0 || change.decided
  return {
    orders: live?.orders ?? 0,
    unpaid: live?.unpaid ?? 0,
    addresses: live?.addresses ?? 0,
    free: places?.free ?? 0,
    added,
    removed,
    others: changes ? (live?.others ?? 0) : 0,
    agents: changes ? (places?.agents ?? 0) : 0,
    groups
  }
}
