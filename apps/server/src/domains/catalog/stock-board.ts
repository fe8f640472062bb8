import type { AddressFamily } from '@netlet/contract'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Log } from '../../infra/log.ts'
import { quoteRules } from '../inventory/index.ts'

/** Where a variant's addresses come from, and in blocks of how many. */
export type StockKey = { groupId: number; step: number; family: AddressFamily }

/** Stock figures for lists: a shopper may see one that is up to 30 s old, an order never goes by it. */
export type StockBoard = {
  /** The figures of these keys; asks the inventory only for those that are not known well enough. */
  read(keys: readonly StockKey[]): Promise<(key: StockKey) => number>
  /** Which servers sell has changed: the figures that are known are too old. */
  forget(): void
}

const FRESH = 10_000
const USABLE = 30_000

type Figure = { stock: number; at: number }

/**
 * Remembers each key's figure: for 10 s as it is, for 30 s while a new one is fetched behind the reader's back. One
 * fetch a key at a time, however many ask.
 */
export function openStockBoard(options: {
  quote: (key: StockKey) => Promise<number>
  now: Clock
  log: Log
}): StockBoard {
  const { quote, now, log } = options
  const figures = new Map<string, Figure>()
  const fetching = new Map<string, Promise<void>>()
  let generation = 0

  const remember = async (name: string, key: StockKey) => {
    const startedIn = generation
    const stock = await quote(key)
    // Read before it was to be forgotten: right for those who asked before, for nobody after.
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

/** The addresses to be had under the rule with most of them. */
export async function largestStock(db: Executor, key: StockKey): Promise<number> {
  const quotes = await quoteRules(db, key)
  return quotes.reduce((most, { stock }) => Math.max(most, stock), 0)
}

/** The figures of these keys as they are in a transaction, one query after the other. */
export async function readStockNow(tx: Executor, keys: readonly StockKey[]): Promise<(key: StockKey) => number> {
  const figures = new Map<string, number>()
  for (const [name, key] of new Map(keys.map(key => [nameOf(key), key]))) figures.set(name, await largestStock(tx, key))
  return key => figures.get(nameOf(key)) ?? 0
}
