import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Database, closeDatabase, openDatabase } from '../../apps/server/src/infra/db/client.ts'
import { openBenchDatabase } from '../database.ts'
import { median, type Bench } from '../figures.ts'
import type { Given, Started } from './subject.ts'
import { connect } from 'node:net'
import { sql } from 'drizzle-orm'

const PRODUCTS = 50

/** A medium-sized shop: 50 products with 6 variants each, in collections and with tags. */
async function fillShelf(db: Database): Promise<void> {
  await db.execute(
    sql`insert into server_groups (created_at, name) select now(), 'Group ' || g from generate_series(1, 4) g`
  )
  await db.execute(sql`insert into collections (created_at, platform_id, name, description)
    select now(), g::text, 'Collection ' || g, 'Addresses for every purpose' from generate_series(1, 3) g`)
  await db.execute(
    sql`insert into tags (created_at, platform_name, name) select now(), 'tag ' || g, 'Tag ' || g from generate_series(1, 8) g`
  )
  await db.execute(sql`insert into products (created_at, platform_id, name, description)
    select now(), (1000 + g)::text, 'Plan ' || g, repeat('Fast, steady and welcome almost everywhere. ', 5)
    from generate_series(1, ${PRODUCTS}) g`)
  await db.execute(sql`insert into product_collections (product_id, collection_id) select id, 1 + id % 3 from products`)
  await db.execute(sql`insert into product_tags (product_id, tag_id)
    select id, 1 + (id + t) % 8 from products, generate_series(0, 2) t`)
  await db.execute(sql`insert into product_options (product_id, position, name, values)
    select id, 1, 'Location', '{New York,London,Tokyo}'::text[] from products
    union all select id, 2, 'Block', '{Single address,Block of 8}'::text[] from products`)
  await db.execute(sql`insert into variants
      (created_at, product_id, platform_id, name, description, option1, option2, price, cart_step, server_group_id)
    select now(), p.id, (p.id * 100 + row_number() over (partition by p.id))::text, place || ' / ' || size, place, place, size,
      2.20, case size when 'Block of 8' then 8 else 1 end, 1 + p.id % 4
    from products p, unnest('{New York,London,Tokyo}'::text[]) place, unnest('{Single address,Block of 8}'::text[]) size`)
}

type Load = { requests: number; seconds: number; p99: number }

/**
 * Requests a page repeatedly on keep-alive connections, one request at a time on each. It parses only a reply's length,
 * because the client shares the machine with the server.
 */
async function drive(options: { port: number; path: string; connections: number; ms: number }): Promise<Load> {
  const { port, path, connections, ms } = options
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\n\r\n`
  const start = performance.now()
  const until = start + ms
  const times: number[] = []

  const lane = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      let asked = 0
      let expected = -1
      let read = 0
      const ask = () => {
        asked = performance.now()
        if (asked >= until) return socket.end(() => resolve())
        expected = -1
        read = 0
        socket.write(head)
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('data', chunk => {
        if (expected < 0) {
          const end = chunk.indexOf('\r\n\r\n')
          const text = chunk.toString('latin1', 0, end)
          const length = /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: (\d+)/i.exec(text)?.[1]
          if (end < 0 || length === undefined) return void socket.destroy(new Error(`unexpected reply: ${text}`))
          expected = Number(length)
          read = chunk.length - end - 4
        } else read += chunk.length
        if (read < expected) return
        times.push(performance.now() - asked)
        ask()
      })
    })
  await Promise.all(Array.from({ length: connections }, lane))
  const sorted = times.toSorted((a, b) => a - b)
  return {
    requests: times.length,
    seconds: (performance.now() - start) / 1000,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  }
}

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
