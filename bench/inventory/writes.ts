import type { Client, Pool } from 'pg'
import { alternate, type Figure, median } from '../figures.ts'
import type { Dataset } from './dataset.ts'
import { ms, pick } from './reads.ts'

const insertRow = { name: 'one row', text: 'insert into bench_rows (order_id, note) values ($1, $2)' }
const reserve = { name: 'reserve', text: 'select inventory.reserve($1, $2, $3, $4, $5) as lease' }
const window = 4000

/** A reservation compared with a transaction that inserts one row, on one connection, alternating. */
export async function measureReserve(client: Client, data: Dataset, log: (line: string) => void): Promise<Figure[]> {
  log('reservations, one at a time')
  const order = (round: number) => data.orders[Math.abs(round) % data.orders.length]
  const take = (step: number, blocks: number) => (round: number) =>
    client.query({ ...reserve, values: [order(round), data.group, step, pick(data.rules, 3, round), blocks] })
  const insert = (round: number) => client.query({ ...insertRow, values: [order(round), 'note'] })
  const [row = [], block = [], singles = []] = await alternate(600, [insert, take(8, 1), take(1, 8)])
  await releaseReserved(client)
  return [
    { what: 'reserve 8 addresses under 3 rules, one block of 8, median', samples: block },
    { what: 'reserve 8 addresses under 3 rules, 8 blocks of 1, median', samples: singles }
  ].map(({ what, samples }) => {
    const ratio = median(samples) / median(row)
    return {
      what,
      measured: `${ms(median(samples))} against ${ms(median(row))}`,
      ratio,
      goal: '≤ 6 ×',
      met: ratio <= 6
    }
  })
}

/** Reservations per second with several clients, compared with one-row INSERTs from as many, alternating. */
export async function measureRate(pool: Pool, data: Dataset, log: (line: string) => void): Promise<Figure[]> {
  const figures: Figure[] = []
  let oversold = 0
  for (const clients of [1, 8, 32]) {
    const rate = { insert: [] as number[], one: [] as number[], spread: [] as number[] }
    for (let turn = 0; turn < 2; turn += 1) {
      rate.insert.push(await perSecond(pool, clients, nth => ({ ...insertRow, values: [nth, 'note'] })))
      for (const place of ['one', 'spread'] as const) {
        const group = place === 'one' ? data.group : data.everything
        const taking = (nth: number) => {
          const order = data.orders[nth % data.orders.length]
          return { ...reserve, values: [order, group, 8, pick(data.rules, 3, nth), 1] }
        }
        rate[place].push(await perSecond(pool, clients, taking))
        await releaseReserved(pool)
      }
    }
    const inserts = Math.max(...rate.insert)
    for (const place of ['one', 'spread'] as const) {
      const ratio = Math.max(...rate[place]) / inserts
      const goal = clients === 32 && place === 'one'
      figures.push({
        what: `reserves/s, ${clients} client${clients > 1 ? 's' : ''}, ${place === 'one' ? 'one group' : 'spread'}`,
        measured: `${Math.max(...rate[place]).toFixed(0)}/s against ${inserts.toFixed(0)}/s`,
        ratio,
        goal: goal ? '≥ 0.10' : '',
        met: goal ? ratio >= 0.1 : null
      })
    }
    log(`reservations, ${clients} clients`)
  }
  oversold += await count(pool, 'select inventory.double_leased() as count')
  const differences = await count(pool, 'select inventory.differences() as count')
  figures.push({ what: 'pairs leased twice after it all', measured: String(oversold), goal: '0', met: oversold === 0 })
  figures.push({
    what: 'audit differences after it all',
    measured: String(differences),
    goal: '0',
    met: differences === 0
  })
  return figures
}

type Query = (nth: number) => { name: string; text: string; values: unknown[] }

/** Any error, including a deadlock, ends the benchmark. */
async function perSecond(pool: Pool, clients: number, query: Query): Promise<number> {
  const connections = await Promise.all(Array.from({ length: clients }, () => pool.connect()))
  let done = 0
  const start = performance.now()
  await Promise.all(
    connections.map(async (client, at) => {
      for (let nth = at; performance.now() - start < window; nth += clients) {
        await client.query(query(nth))
        done += 1
      }
      client.release()
    })
  )
  return (done * 1000) / (performance.now() - start)
}

async function releaseReserved(db: Client | Pool): Promise<void> {
  await db.query(
    `select inventory.release((select coalesce(array_agg(id), '{}') from leases where state = 'reserved'), '{}')`
  )
}

async function count(pool: Pool, text: string): Promise<number> {
  return (await pool.query<{ count: number }>(text)).rows[0]?.count ?? Number.NaN
}
