import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Log } from '../../infra/log.ts'
import { quoteRules } from '../inventory/index.ts'

/** Where a variant's addresses come from, and in blocks of how many. */
export type Place = { groupId: number; step: number }

/** Stock figures for lists: a shopper may see one that is up to 30 s old, an order never goes by it. */
export type StockBoard = {
  /** The figures of these places; asks the inventory only for those that are not known well enough. */
  read(places: readonly Place[]): Promise<(place: Place) => number>
}

const FRESH = 10_000
const USABLE = 30_000

type Figure = { stock: number; at: number }

/**
 * Remembers each place's figure: for 10 s as it is, for 30 s while a new one is fetched behind the reader's back. One
 * fetch a place at a time, however many ask.
 */
export function openStockBoard(options: {
  quote: (place: Place) => Promise<number>
  now: Clock
  log: Log
}): StockBoard {
  const { quote, now, log } = options
  const figures = new Map<string, Figure>()
  const fetching = new Map<string, Promise<void>>()

  const remember = async (key: string, place: Place) => {
    const stock = await quote(place)
    figures.set(key, { stock, at: now().getTime() })
  }

  const fetchFigure = (key: string, place: Place): Promise<void> => {
    const running = fetching.get(key)
    if (running) return running
    const started = remember(key, place).finally(() => fetching.delete(key))
    fetching.set(key, started)
    return started
  }

  return {
    async read(places) {
      const missing: Promise<void>[] = []
      for (const [key, place] of new Map(places.map(place => [keyOf(place), place]))) {
        const figure = figures.get(key)
        const age = figure ? now().getTime() - figure.at : Infinity
        if (age < FRESH) continue
        const fetched = fetchFigure(key, place)
        if (age >= USABLE) missing.push(fetched)
        else fetched.catch((error: unknown) => log.warn({ err: error, place }, 'stock figure not refreshed'))
      }
      await Promise.all(missing)
      return place => figures.get(keyOf(place))?.stock ?? 0
    }
  }
}

const keyOf = ({ groupId, step }: Place) => `${groupId}/${step}`

/** The addresses to be had under the rule with most of them. */
export async function largestStock(db: Executor, place: Place): Promise<number> {
  const quotes = await quoteRules(db, place)
  return quotes.reduce((most, { stock }) => Math.max(most, stock), 0)
}
