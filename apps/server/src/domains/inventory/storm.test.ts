import { sql } from '../../infra/db/drizzle.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase, sqlState } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import { addCidr, audit, createRule, stockForRules, release, reserve } from './index.ts'

const clients = 32
let database: TestDatabase
let db: Database
let rules: number[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: clients + 4 })
  for (let at = 0; at < 6; at += 1) rules.push(await addRule(db, `rule ${at}`))
})

afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

async function shop(name: string, ranges: string[]) {
  const serverId = await addServer(db, name)
  const groupId = await addGroup(db, name, [serverId])
  for (const cidr of ranges) expect(await inTransaction(db, addCidr, { cidr, serverId })).toMatchObject({ ok: true })
  return { groupId, orders: await addOrders(db, groupId, clients) }
}

it.each([
  { name: 'one range', ranges: ['10.1.0.0/23'], step: 8, blocks: 3 },
  { name: 'many small ranges', ranges: Array.from({ length: 24 }, (_, at) => `10.2.${at}.0/28`), step: 1, blocks: 7 },
  { name: 'uneven ranges', ranges: ['10.3.0.0/22', '10.3.8.0/25', '10.3.9.0/27'], step: 32, blocks: 2 }
])(
  'sells exactly floor(free / wanted) times, even to buyers at once: $name',
  async ({ name, ranges, step, blocks }) => {
    const { groupId, orders } = await shop(name, ranges)
    const wanted = { groupId, step, rules: rules.slice(0, 3), quantity: step * blocks }
    const free = await stockForRules(db, wanted)
    let won = 0
    await Promise.all(
      orders.map(async orderId => {
        // Every buyer continues until refused, so that they compete for the last blocks.
        while ((await reserve(db, { ...wanted, orderId })).ok) won += 1
      })
    )
    expect(won).toBe(Math.floor(free / wanted.quantity))
    expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  }
)

it('stays true through rollbacks, releases, new rules and killed connections', async () => {
  const { groupId, orders } = await shop('storm', ['10.4.0.0/24', '10.4.1.0/28', '10.4.2.0/25', '10.4.3.0/30'])
  let finished = 0
  let killed = 0
  const steps = [1, 8, 16]
  const buyer = async (orderId: number, at: number) => {
    for (let round = 0; round < 12; round += 1) {
      const step = steps[(at + round) % 3] ?? 1
      const mine = [rules[at % 6] ?? 0, rules[(at + round) % 6] ?? 0]
      try {
        await db.transaction(async tx => {
          const taken = await reserve(tx, { orderId, groupId, step, rules: mine, quantity: step * (1 + (round % 3)) })
          if (taken.ok && round % 4 === 1) tx.rollback()
        })
        if (round % 3 === 2) await release(db, { orderIds: [orderId] })
        finished += 1
      } catch (error) {
        // A rollback of ours or of the killed connection, but no deadlock (40P01) and no refusal by the guard (23P01).
        const lost =
          error instanceof Error &&
          /Rollback|terminat|Connection|closed/i.test(`${error.message} ${String(error.cause)}`)
        if (!lost || ['40P01', '23P01'].includes(sqlState(error) ?? '')) throw error
      }
    }
  }
  const over = new AbortController()
  const killer = async () => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    while (!over.signal.aborted && killed < 20) {
      const { rowCount } = await client.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name = 'netlet'
          and state <> 'idle' order by random() limit 1`)
      killed += rowCount ?? 0
      await sleep(15)
    }
    await client.end()
  }
  const killing = killer()
  await Promise.all([
    ...orders.map(buyer),
    (async () => {
      const input = { description: '', price: '1.00', platformVariantId: '2', aclValue: 'late.example' }
      await inTransaction(db, createRule, { ...input, name: 'late' }).catch(() => undefined)
    })()
  ])
  over.abort()
  await killing
  expect(finished).toBeGreaterThan(clients)
  expect(killed).toBeGreaterThan(0)
  // None of the lost connections is still counted as in use.
  expect(db.$client.totalCount - db.$client.idleCount).toBe(0)
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await release(db, { orderIds: orders })
  const { rows } = await db.execute(sql`select coalesce(sum(bit_count(bits)), 0) as used from rule_usage u
    join chunks c on c.id = u.chunk_id join inventory.sellers s using (server_id) where s.group_id = ${groupId}`)
  expect(rows).toEqual([{ used: '0' }])
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
})
