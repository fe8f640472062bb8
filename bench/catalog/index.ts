import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { closeDatabase, openDatabase } from '../../apps/server/src/infra/db/client.ts'
import { openBenchDatabase } from '../database.ts'
import { median, type Bench } from '../figures.ts'
import { drive, type Load } from './load.ts'
import { fillShelf } from './shelf.ts'
import type { Given, Started } from './subject.ts'

const PATH = '/api/products/products/?limit=50'
const ROUNDS = 9
const ROUND_MS = 1500
const CONNECTIONS = 16

/**
 * The shop's product list compared with a bare node:http server that sends the same bytes, with the same client,
 * alternating.
 */
export const catalogBench: Bench = async log => {
  const database = await openBenchDatabase()
  const children: ChildProcess[] = []
  try {
    const db = openDatabase(database.url)
    await fillShelf(db)
    await closeDatabase(db)
    const shop = await start(children, 'shop', { DATABASE_URL: database.url })
    const reply = await fetch(`http://127.0.0.1:${shop}${PATH}`)
    const given = { body: await reply.text(), type: reply.headers.get('content-type') ?? '' }
    const listed = (JSON.parse(given.body) as { data: { data: unknown[] } }).data.data.length
    log(`${listed} products, ${Math.round(given.body.length / 1024)} kB, ${CONNECTIONS} connections`)
    const bare = await start(children, 'bare', {}, given)

    const loads: { shop: Load; bare: Load }[] = []
    for (let round = -1; round < ROUNDS; round++) {
      const load = { shop: await measure(shop), bare: await measure(bare) }
      // The first round is a warm-up.
      if (round >= 0) loads.push(load)
    }
    const ratio = median(loads.map(load => rate(load.shop) / rate(load.bare)))
    const per = (of: 'shop' | 'bare') =>
      `${Math.round(median(loads.map(load => rate(load[of]))))}/s (p99 ${median(loads.map(load => load[of].p99)).toFixed(1)} ms)`
    return [
      {
        what: 'catalogue read, 50 products, requests/s',
        measured: `${per('shop')} against ${per('bare')}`,
        ratio,
        goal: '≥ 0.60 × bare node:http',
        met: ratio >= 0.6
      }
    ]
  } finally {
    for (const child of children) await end(child)
    await database.drop()
  }
}

const measure = (port: number) => drive({ port, path: PATH, connections: CONNECTIONS, ms: ROUND_MS })
const rate = ({ requests, seconds }: Load) => requests / seconds

/** Starts a subject and returns its port. */
async function start(
  children: ChildProcess[],
  kind: 'shop' | 'bare',
  env: Record<string, string>,
  given?: Given
): Promise<number> {
  const child = fork(fileURLToPath(new URL('subject.ts', import.meta.url)), [kind], {
    env: {
      ...process.env,
      APP_SECRET: 'a secret of the benchmarks and of nothing else',
      PORT: '0',
      NETLET_DEMO: '1',
      ...env
    }
  })
  children.push(child)
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the ${kind} server ended before it listened`)
  })
  const started = once(child, 'message')
  if (given) child.send(given)
  const [message] = (await Promise.race([started, ended])) as [Started]
  ended.catch(() => undefined)
  return message.port
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.disconnect()
  await gone
}
