import type { AddressFamily, GroupStock, RuleStock, Shortage } from '@netlet/contract'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Log } from '../../infra/log.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import { translated } from '../../infra/translations.ts'
import { maxStep, sellableRules, stockByRule, stockForRules } from '../inventory/index.ts'
import { serverGroups } from '../servers/tables.ts'
import { type OptionChoice, type PricedSelection, findVariant } from './quote.ts'

/** The server group and family of a variant's addresses, and its block size. */
export type StockKey = { groupId: number; step: number; family: AddressFamily }

/** `stock`: the most addresses that any one rule has. `rules`: the ids of those that have a block. */
export type KeyStock = { stock: number; rules: readonly number[] }
const NONE: KeyStock = { stock: 0, rules: [] }

/** Stock figures for lists. They may be up to 30 s old, so orders do not use them. */
export type StockBoard = {
  /** The figures of these keys. Asks the inventory only for missing and old ones. */
  read(keys: readonly StockKey[]): Promise<(key: StockKey) => KeyStock>
  /** Servers changed, so all known figures are outdated. */
  forget(): void
}

const FRESH = 10_000
const USABLE = 30_000

type Figure = { stock: KeyStock; at: number }

/**
 * Caches each key's figure: for 10 s it is fresh, for 30 s it is usable while a new one loads. Each key loads once at a
 * time.
 */
export function openStockBoard(options: {
  count: (key: StockKey) => Promise<KeyStock>
  now: Clock
  log: Log
}): StockBoard {
  const { count, now, log } = options
  const figures = new Map<string, Figure>()
  const fetching = new Map<string, Promise<void>>()
  let generation = 0

  const remember = async (name: string, key: StockKey) => {
    const startedIn = generation
    const stock = await count(key)
    // A figure read before `forget` counts as outdated.
    figures.set(name, { stock, at: startedIn === generation ? now().getTime() : -Infinity })
  }

  const fetchFigure = (name: string, key: StockKey): Promise<void> => {
    const running = fetching.get(name)
    if (running) return running
    const started = remember(name, key).finally(() => {
      if (fetching.get(name) === started) fetching.delete(name)
    })
    fetching.set(name, started)
    return started
  }

  return {
    async read(keys) {
      const missing: Promise<void>[] = []
      for (const [name, key] of new Map(keys.map(key => [nameOf(key), key]))) {
        const figure = figures.get(name)
        const age = figure ? now().getTime() - figure.at : Infinity
        if (age < FRESH) continue
        const fetched = fetchFigure(name, key)
        if (age >= USABLE) missing.push(fetched)
        else fetched.catch((error: unknown) => log.warn({ err: error, stock: key }, 'stock figure not refreshed'))
      }
      await Promise.all(missing)
      return key => figures.get(nameOf(key))?.stock ?? NONE
    },
    forget() {
      generation++
      for (const figure of figures.values()) figure.at = -Infinity
      fetching.clear()
    }
  }
}

const nameOf = ({ groupId, step, family }: StockKey) => `${groupId}/${step}/${family}`

export async function countStock(db: Executor, key: StockKey): Promise<KeyStock> {
  const byRule = await stockByRule(db, key)
  return {
    stock: byRule.reduce((most, { stock }) => Math.max(most, stock), 0),
    rules: byRule.flatMap(({ ruleId, stock }) => (stock >= key.step ? [ruleId] : []))
  }
}

/** The figures of these keys within a transaction, one query after the other. */
export async function readStockNow(tx: Executor, keys: readonly StockKey[]): Promise<(key: StockKey) => KeyStock> {
  const figures = new Map<string, KeyStock>()
  for (const [name, key] of new Map(keys.map(key => [nameOf(key), key]))) figures.set(name, await countStock(tx, key))
  return key => figures.get(nameOf(key)) ?? NONE
}

/** Stock and price of every access rule on sale, for these options. */
export async function stockOfEachRule(
  db: Executor,
  { productId, options }: { productId: number; options: OptionChoice }
): Promise<Result<RuleStock[]>> {
  const variant = await findVariant(db, { productId, options })
  if (!variant.ok) return variant
  const { groupId, step, family } = variant.data
  const [rules, counted] = await Promise.all([sellableRules(db), stockByRule(db, { groupId, step, family })])
  const stock = new Map(counted.map(rule => [rule.ruleId, rule.stock]))
  return ok(
    rules.map(rule => ({
      acl_id: rule.id,
      acl_name: rule.name,
      price: rule.price,
      stock: stock.get(rule.id) ?? 0,
      domains: rule.domains,
      ...translated(rule)
    }))
  )
}

/** What a variant could sell from a server group; 'choice_gone' if it does not exist. */
export async function groupStock(
  db: Executor,
  { groupId, step, family }: { groupId: number; step: number; family: AddressFamily }
): Promise<Result<GroupStock>> {
  const known = await db.$count(serverGroups, and(eq(serverGroups.id, groupId), isNull(serverGroups.deletedAt)))
  if (known === 0) return fieldRefusal('server_group', 'choice_gone')
  const [rules, counted, largest] = await Promise.all([
    sellableRules(db),
    stockByRule(db, { groupId, step, family }),
    maxStep(db, groupId, family)
  ])
  const stock = new Map(counted.map(rule => [rule.ruleId, rule.stock]))
  const byRule = rules.map(rule => ({ acl_id: rule.id, acl_name: rule.name, stock: stock.get(rule.id) ?? 0 }))
  return ok({
    max_step: largest,
    stock: counted.reduce((most, rule) => Math.max(most, rule.stock), 0),
    rules: byRule
  })
}

/** Which rules of an unavailable selection are short now. */
export async function findShortage(
  db: Executor,
  { variant, rules, ruleNames }: Pick<PricedSelection, 'variant' | 'rules' | 'ruleNames'>,
  quantity: number
): Promise<Shortage> {
  const { groupId, step, family } = variant
  const [each, together] = await Promise.all([
    stockByRule(db, { groupId, step, family }),
    stockForRules(db, { groupId, step, rules, family })
  ])
  const stock = new Map(each.map(rule => [rule.ruleId, rule.stock]))
  const all = rules.map((id, at) => ({ acl_id: id, acl_name: ruleNames[at] ?? '', stock: stock.get(id) ?? 0 }))
  return { stock: together, short: all.filter(rule => rule.stock < quantity) }
}
