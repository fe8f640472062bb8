import type { AddressFamily } from '@netlet/contract'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Log } from '../../infra/log.ts'
import { stockByRule } from '../inventory/index.ts'

/** The server group and family of a variant's addresses, and its block size. */
export type StockKey = { groupId: number; step: number; family: AddressFamily }

/** Stock figures for lists. They may be up to 30 s old, so orders do not use them. */
export type StockBoard = {
  /** The figures of these keys. Asks the inventory only for missing and old ones. */
  read(keys: readonly StockKey[]): Promise<(key: StockKey) => number>
  /** Servers changed, so all known figures are outdated. */
  forget(): void
}

const FRESH = 10_000
const USABLE = 30_000

type Figure = { stock: number; at: number }

/**
 * Caches each key's figure: for 10 s it is fresh, for 30 s it is usable while a new one loads. Each key loads once at a
 * time.
 */
export function openStockBoard(options: {
  count: (key: StockKey) => Promise<number>
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
      return key => figures.get(nameOf(key))?.stock ?? 0
    },
    forget() {
      generation++
      for (const figure of figures.values()) figure.at = -Infinity
      fetching.clear()
    }
  }
}

const nameOf = ({ groupId, step, family }: StockKey) => `${groupId}/${step}/${family}`

/** The most addresses that any one rule can have. */
export async function largestStock(db: Executor, key: StockKey): Promise<number> {
  const byRule = await stockByRule(db, key)
  return byRule.reduce((most, { stock }) => Math.max(most, stock), 0)
}

/** The figures of these keys within a transaction, one query after the other. */
export async function readStockNow(tx: Executor, keys: readonly StockKey[]): Promise<(key: StockKey) => number> {
  const figures = new Map<string, number>()
  for (const [name, key] of new Map(keys.map(key => [nameOf(key), key]))) figures.set(name, await largestStock(tx, key))
  return key => figures.get(nameOf(key)) ?? 0
}
