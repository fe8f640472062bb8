import {
  fillIn,
  formMessages,
  refuse,
  type OverlapDecision,
  type Params,
  type Refusal,
  type RuleCheck,
  type RuleConflicts,
  type RuleOverlap
} from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { parseDomains } from './domains.ts'
import { ruleEffect } from './rules-on-sale.ts'
import {
  newlyShared,
  ordersHolding,
  planRules,
  type RulesPlan,
  sharedAddresses,
  type SharedAddresses
} from './overlaps.ts'
import type { DecidedOverlap } from './deny-lists.ts'
import type { RuleRefusal } from './rules.ts'

/** How many of a kind are listed; the others are only counted. */
const LISTED = 200
/** Orders named in a sentence. */
const NAMED = 10
/** Stands for a rule that is not saved yet. */
const UNSAVED = 0

/** The numbers by which people know these orders. The domain of the orders, which is above this one, provides it. */
export type OrderNumbers = (db: Executor, ids: number[]) => Promise<ReadonlyMap<number, string>>
const noNumbers: OrderNumbers = () => Promise.resolve(new Map())

/** What the rules on sale have in common. Reads only. */
export async function ruleConflicts(
  ctx: AppContext,
  orderNumbers: OrderNumbers = noNumbers
): Promise<Result<RuleConflicts>> {
  const plan = await planRules(ctx.db)
  const shared = await sharedAddresses(ctx.db, plan.intersections.slice(0, LISTED))
  return ok(await presentPlan(ctx.db, plan, { shared, orderNumbers }))
}

/** What saving a rule would lead to. The save may still be refused, because others may save first. */
export async function checkRule(
  ctx: AppContext,
  form: {
    acl_value: string
    decisions?: OverlapDecision[] | undefined
    id?: number | undefined
    name?: string | undefined
  },
  orderNumbers: OrderNumbers = noNumbers
): Promise<Result<RuleCheck>> {
  const parsed = parseDomains(form.acl_value)
  if (!parsed.ok) return ruleRefusal({ ok: false, reason: 'invalid_lines', lines: parsed.lines })
  const id = form.id ?? UNSAVED
  const { rules } = await planRules(ctx.db)
  const saved = rules.find(rule => rule.id === id)
  if (form.id !== undefined && !saved) return refuse('not_found')
  const rule = { id, name: form.name ?? saved?.name ?? '…', domains: parsed.domains }
  const plan = await planRules(ctx.db, { rule, decisions: form.decisions })
  const own = (ids: readonly number[]) => ids.includes(id)
  const concerned = {
    ...plan,
    duplicates: plan.duplicates.filter(duplicate => own(duplicate.rules)),
    overlaps: plan.overlaps.filter(({ narrow, broad }) => own([narrow, broad]))
  }
  // This includes two other rules that would both win a domain of this one.
  const conflicts = await presentPlan(ctx.db, concerned, { shared: await newlyShared(ctx.db, plan), orderNumbers })
  const effect = await ruleEffect(ctx.db, form.id ?? null, {
    before: saved?.domains ?? [],
    after: parsed.domains,
    decided: (form.decisions ?? []).length > 0
  })
  return ok({ ...conflicts, effect })
}

async function presentPlan(
  db: Executor,
  plan: RulesPlan,
  { shared, orderNumbers }: { shared: SharedAddresses[]; orderNumbers: OrderNumbers }
): Promise<RuleConflicts> {
  const { duplicates, overlaps } = plan
  const side = sidesOf(plan)
  const undecided = overlaps.filter(({ winner }) => winner === null)
  const first = [...undecided, ...overlaps.filter(({ winner }) => winner !== null)].slice(0, LISTED)
  const listed = duplicates.slice(0, LISTED)
  const named = new Set([
    ...listed.flatMap(({ rules }) => rules),
    ...first.flatMap(({ narrow, broad }) => [narrow, broad])
  ])
  const holding = await ordersHolding(db, [...named])
  const pairs = shared.map(pair => ({ ...pair, orders: pair.orders.slice(0, LISTED) }))
  const numbers = await orderNumbers(db, [...new Set(pairs.flatMap(({ orders }) => orders))])
  return {
    duplicates: listed.map(({ domain, rules }) => ({ domain, rules: rules.map(side) })),
    duplicate_total: duplicates.length,
    overlaps: first.map(overlap => presentOverlap(overlap, side)),
    overlap_total: overlaps.length,
    undecided_total: undecided.length,
    rules: plan.rules
      .filter(({ id }) => named.has(id) && id !== UNSAVED)
      .map(({ id, name }) => ({ id, name, orders: holding.get(id) ?? 0 })),
    shared: pairs.map(({ rules, orders }) => ({
      rules: rules.map(side),
      orders: orders.map(id => ({ id, order_id: numbers.get(id) ?? `#${id}` }))
    }))
  }
}

type Side = { id: number | null; name: string }

function sidesOf({ rules }: RulesPlan): (id: number) => Side {
  const names = new Map(rules.map(rule => [rule.id, rule.name]))
  return id => ({ id: id === UNSAVED ? null : id, name: names.get(id) ?? '' })
}

function presentOverlap(
  { narrow, broad, domain, within, winner }: DecidedOverlap,
  side: (id: number) => Side
): RuleOverlap {
  const params: Params = { domain, narrow: side(narrow).name, broad: side(broad).name }
  const choice = (wins: 'narrow' | 'broad') => {
    const reason = `overlap_${wins}_wins` as const
    return { winner: wins, reason, params, msg: fillIn(formMessages[reason], params) }
  }
  return {
    domain,
    within,
    narrow: side(narrow),
    broad: side(broad),
    winner,
    choices: [choice('narrow'), choice('broad')]
  }
}

/** Why a rule is not saved, with what the form needs to ask for a decision. */
export function ruleRefusal(refusal: RuleRefusal): Refusal {
  if (refusal.reason === 'invalid_lines') {
    const problem = refusal.lines
      .slice(0, 5)
      .map(line => line.message)
      .join('; ')
    return onDomains('invalid_lines', { problem }, { lines: refusal.lines.slice(0, 100) })
  }
  const side = sidesOf(refusal.plan)
  if (refusal.reason === 'domain_taken') {
    const [first] = refusal.taken
    const owner = first?.rules.find(id => id !== refusal.ruleId) ?? UNSAVED
    const count = refusal.taken.length
    const params = { domain: first?.domain ?? '', rule: side(owner).name, count }
    const duplicates = refusal.taken
      .slice(0, LISTED)
      .map(({ domain, rules }) => ({ domain, rules: rules.filter(id => id !== refusal.ruleId).map(side) }))
    return onDomains('domain_taken', params, { duplicates, duplicate_total: count })
  }
  if (refusal.reason === 'overlap_undecided') {
    const count = refusal.undecided.length
    const overlaps = refusal.undecided.slice(0, LISTED).map(overlap => presentOverlap(overlap, side))
    const { domain = '', within = '', narrow, broad } = overlaps[0] ?? {}
    const params = { domain, within, narrow: narrow?.name ?? '', broad: broad?.name ?? '', count }
    return onDomains('overlap_undecided', params, { overlaps, overlap_total: count })
  }
  const { shared } = refusal
  const orders = (shared[0]?.orders ?? []).slice(0, NAMED).map(id => `#${id}`)
  const [rule, other] = (shared[0]?.rules ?? []).map(id => side(id).name)
  return onDomains(
    'rules_share_addresses',
    { rule: rule ?? '', other: other ?? '', orders: orders.join(', ') },
    {
      orders: shared[0]?.orders ?? [],
      shared: shared.map(pair => ({ rules: pair.rules.map(side), orders: pair.orders.slice(0, LISTED) }))
    }
  )
}

/** A refusal about the list of domains, with more data for the form. */
function onDomains(reason: Parameters<typeof fieldRefusal>[1], params: Params, data: object): Refusal {
  const refusal = fieldRefusal('acl_value', reason, params)
  return { ...refusal, data: { ...refusal.data, ...data } }
}
