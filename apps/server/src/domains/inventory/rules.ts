import { and, asc, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { InTransaction } from './cidr-commands.ts'
import { denyList, type DomainLine, parentsOf, parseDomains } from './domains.ts'
import { lockInventory } from './leasing.ts'
import { sortedIds } from './sql.ts'
import { aclRules, leases } from './tables.ts'

export type Rule = typeof aclRules.$inferSelect

export type RuleInput = {
  name: string
  description: string
  /** Decimal with at most 2 places ('1.50'). */
  price: string
  platformVariantId: string
  /** One domain a line, see `parseDomains`. */
  aclValue: string
}

/** Two rules of which one covers a part of the other: who buys only the narrower one still cannot reach it. */
export type RuleOverlap = {
  domain: string
  within: string
  /** The other rule of the pair. */
  ruleId: number
  ruleName: string
}

export type RuleRefusal = { ok: false; reason: 'invalid_domains'; lines: DomainLine[] }

/** The constraint that a write of a rule violates where another rule on sale has its name. */
export const RULE_NAME = 'acl_rules_name_key'

/** Creates a rule, at once in stock on every address of every range that does not come to exclude it. */
export async function createRule(
  { tx }: InTransaction,
  input: RuleInput
): Promise<{ ok: true; rule: Rule; overlaps: RuleOverlap[] } | RuleRefusal> {
  const parsed = parseDomains(input.aclValue)
  if (!parsed.ok) return { ok: false, reason: 'invalid_domains', lines: parsed.lines }
  await lockInventory(tx)
  const [saved] = await tx
    .insert(aclRules)
    .values({ ...ruleColumns(input), domains: parsed.domains })
    .returning()
  if (!saved) throw new Error('the rule was not created')
  await tx.execute(sql`select inventory.open_rule(${saved.id})`)
  return { ok: true, rule: saved, overlaps: await overlapsOf(tx, saved) }
}

/**
 * Changes a rule. `domainsChanged` tells the caller that the agents have to learn another deny list. Orders keep the
 * price they were sold at.
 */
export async function updateRule(
  { tx }: InTransaction,
  ruleId: number,
  input: RuleInput
): Promise<
  | { ok: true; rule: Rule; domainsChanged: boolean; overlaps: RuleOverlap[] }
  | RuleRefusal
  | { ok: false; reason: 'not_found' }
> {
  const parsed = parseDomains(input.aclValue)
  if (!parsed.ok) return { ok: false, reason: 'invalid_domains', lines: parsed.lines }
  const [before] = await tx
    .select({ domains: aclRules.domains })
    .from(aclRules)
    .where(and(eq(aclRules.id, ruleId), isNull(aclRules.deletedAt)))
    .for('update')
  if (!before) return { ok: false, reason: 'not_found' }
  const [saved] = await tx
    .update(aclRules)
    .set({ ...ruleColumns(input), domains: parsed.domains })
    .where(eq(aclRules.id, ruleId))
    .returning()
  if (!saved) return { ok: false, reason: 'not_found' }
  const domainsChanged = before.domains.join('\n') !== parsed.domains.join('\n')
  return { ok: true, rule: saved, domainsChanged, overlaps: await overlapsOf(tx, saved) }
}

/** Takes a rule out of sale; its row stays for the history. Refused while orders hold addresses under it. */
export async function deleteRule(
  { tx }: InTransaction,
  ruleId: number
): Promise<{ ok: true } | { ok: false; reason: 'not_found' } | { ok: false; reason: 'leased'; orders: number[] }> {
  await lockInventory(tx)
  const [found] = await tx
    .select({ id: aclRules.id })
    .from(aclRules)
    .where(and(eq(aclRules.id, ruleId), isNull(aclRules.deletedAt)))
  if (!found) return { ok: false, reason: 'not_found' }
  const holders = await tx
    .selectDistinct({ orderId: leases.orderId })
    .from(leases)
    .where(and(ne(leases.state, 'released'), sql`${leases.rules} @> array[${ruleId}]::int[]`))
    .orderBy(asc(leases.orderId))
  if (holders.length > 0) return { ok: false, reason: 'leased', orders: holders.map(holder => holder.orderId) }
  await tx.execute(sql`select inventory.close_rule(${ruleId})`)
  return { ok: true }
}

/** Rules on sale, oldest first. */
export async function liveRules(db: Executor): Promise<Rule[]> {
  return db.select().from(aclRules).where(isNull(aclRules.deletedAt)).orderBy(asc(aclRules.id))
}

/**
 * The domains that a proxy must not reach when its order bought these rules: see `denyList`. The same for every order
 * with the same rules.
 */
export async function deniedDomains(db: Executor, { bought }: { bought: number[] }): Promise<string[]> {
  const ids = sortedIds(bought)
  const rules = await db
    .select({ id: aclRules.id, domains: aclRules.domains })
    .from(aclRules)
    .where(or(isNull(aclRules.deletedAt), inArray(aclRules.id, ids)))
  const open = rules.filter(rule => ids.includes(rule.id))
  const closed = rules.filter(rule => !ids.includes(rule.id))
  return denyList(
    closed.flatMap(rule => rule.domains),
    open.flatMap(rule => rule.domains)
  )
}

async function overlapsOf(tx: Executor, rule: Rule): Promise<RuleOverlap[]> {
  const others = (await liveRules(tx)).filter(other => other.id !== rule.id)
  return others.flatMap(other => {
    const name = { ruleId: other.id, ruleName: other.name }
    return [
      ...covered(rule.domains, other.domains).map(pair => ({ ...pair, ...name })),
      ...covered(other.domains, rule.domains).map(pair => ({ ...pair, ...name }))
    ]
  })
}

/** Domains of one list that lie below a domain of another. */
function covered(narrow: string[], wide: string[]): { domain: string; within: string }[] {
  const above = new Set(wide)
  return narrow.flatMap(domain => {
    const within = parentsOf(domain).find(parent => above.has(parent))
    return within === undefined ? [] : [{ domain, within }]
  })
}

function ruleColumns({ name, description, price, platformVariantId, aclValue }: RuleInput) {
  return { name, description, price, platformVariantId, aclValue }
}
