import { closeDatabase, openDatabase } from '../../apps/server/src/infra/db/client.ts'
import { openBenchDatabase } from '../database.ts'
import { alternate, median, quantile, type Bench } from '../figures.ts'
import { casesOf } from './cases.ts'
import { fill, type Size } from './dataset.ts'

const SMALL: Size = { rows: 1000, users: 1000 }
const LARGE: Size = { rows: 1_000_000, users: 100_000 }
/** Enough calls that a single slow one is not the p99, and fewer of slow calls. `within` is in milliseconds. */
const ROUNDS = { most: 600, fewest: 100, within: 6000 }
/** Milliseconds. */
const QUICK = 5
const SLOW = 50

/** Every list and search at 1,000 and at 1,000,000 rows, alternating, through the server's own code. */
export const listsBench: Bench = async log => {
  const databases: { drop(): Promise<void> }[] = []
  const open = async (size: Size) => {
    const database = await openBenchDatabase()
    const subjects = await fill(database.url, size, log)
    const db = openDatabase(database.url, { max: 4 })
    databases.push({
      async drop() {
        await closeDatabase(db)
        await database.drop()
      }
    })
    return casesOf(db, subjects, size)
  }
  try {
    const small = await open(SMALL)
    const large = await open(LARGE)
    const figures = []
    for (const [at, { what, run }] of small.entries()) {
      const atLarge = large[at]
      if (!atLarge || atLarge.what !== what) throw new Error('both have the same cases')
      const [few = [], many = []] = await alternate(await roundsFor(run, atLarge.run), [run, atLarge.run])
      const ratio = quantile(many, 0.99) / quantile(few, 0.99)
      const p99 = quantile(many, 0.99)
      log(`${times(few)} · ${times(many)} ${what}`)
      figures.push({
        what,
        measured: `${times(few)} · ${times(many)}`,
        ratio,
        goal: `p99 ≤ 3 × or ${QUICK} ms, ≤ ${SLOW} ms`,
        met: (ratio <= 3 || p99 <= QUICK) && p99 <= SLOW
      })
    }
    return figures
  } finally {
    for (const database of databases) await database.drop()
  }
}

/** The number of rounds that take `ROUNDS.within` milliseconds, estimated from a few. */
async function roundsFor(...tasks: (() => Promise<unknown>)[]): Promise<number> {
  const once = (await alternate(3, tasks, 3)).reduce((sum, samples) => sum + median(samples), 0)
  return Math.round(Math.min(ROUNDS.most, Math.max(ROUNDS.fewest, ROUNDS.within / once)))
}

/** '0.8 / 1.4 ms': median and p99. */
const times = (samples: number[]) => `${median(samples).toFixed(1)} / ${quantile(samples, 0.99).toFixed(1)} ms`
