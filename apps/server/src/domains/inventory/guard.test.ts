import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase, sqlState } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import { addCidr, audit, excludeRules, release, reserve } from './index.ts'

let database: TestDatabase
let db: Database
let rules: number[] = []
let groupId = 0
let serverId = 0
let orders: number[] = []
let chunk = 0
let lease = 0

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 4 })
  rules = [await addRule(db, 'one'), await addRule(db, 'two'), await addRule(db, 'three')]
  serverId = await addServer(db, 'server')
  groupId = await addGroup(db, 'group', [serverId])
  orders = await addOrders(db, groupId, 2)
  chunk = await addRange('10.0.0.0/24', serverId)
  const taken = await reserve(db, { orderId: orders[0] ?? 0, groupId, step: 8, rules: rules.slice(0, 2), quantity: 8 })
  lease = taken.ok ? taken.leaseId : 0
})

afterAll(async () => {
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  await closeDatabase(db)
  await database.drop()
})

/** Adds a range of one chunk. @returns the chunk */
async function addRange(cidr: string, server: number | null): Promise<number> {
  const added = await inTransaction(db, addCidr, { cidr, serverId: server })
  if (!added.ok) throw new Error(added.reason)
  return one(sql`select id from chunks where cidr_id = ${added.cidrId}`)
}

async function one(query: SQL): Promise<number> {
  return (await db.execute<{ id: number }>(query)).rows[0]?.id ?? 0
}

/** A new lease row of the first two rules, and blocks that bypass `reserve`. */
async function insertPast(blocks: { chunk: number; start: number; length?: number; rules?: number[] }[]) {
  await db.transaction(async tx => {
    const own = rules.slice(0, 2)
    const step = blocks[0]?.length ?? 8
    const { rows } = await tx.execute<{ id: number }>(sql`
      insert into leases (created_at, order_id, group_id, step, rules, blocks)
      values (now(), ${orders[1]}, ${groupId}, ${step}, ${sql.param(own)}::int[], ${blocks.length}) returning id`)
    const values = blocks.map(
      block =>
        sql`(now(), ${rows[0]?.id}, ${block.chunk}, ${block.start}, ${block.length ?? 8}, ${sql.param(block.rules ?? own)}::int[])`
    )
    await tx.execute(
      sql`insert into lease_blocks (leased_at, lease_id, chunk_id, start, length, rules) values ${sql.join(values, sql`, `)}`
    )
  })
}

async function stateOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => 'done',
    (error: unknown) => sqlState(error)
  )
}

const run = (query: SQL) => stateOf(db.execute(query))

describe('a block that is written past reserve', () => {
  it('is refused if an address is leased already under one of its rules', async () => {
    expect(await stateOf(insertPast([{ chunk, start: 0 }]))).toBe('23P01')
    expect(await stateOf(insertPast([{ chunk, start: 0, length: 1 }]))).toBe('23P01')
    expect(await stateOf(insertPast([{ chunk, start: 0, length: 256 }]))).toBe('23P01')
  })

  it('is refused if two blocks of one statement overlap', async () => {
    const twice = [
      { chunk, start: 64 },
      { chunk, start: 64 }
    ]
    expect(await stateOf(insertPast(twice))).toBe('23P01')
  })

  it('is refused in an excluded range, in one without a server, and beyond its chunk', async () => {
    const excluded = await addRange('10.0.1.0/24', serverId)
    await inTransaction(
      db,
      excludeRules,
      await one(sql`select cidr_id as id from chunks where id = ${excluded}`),
      rules.slice(1, 2)
    )
    const serverless = await addRange('10.0.2.0/24', null)
    const small = await addRange('10.0.3.0/29', serverId)
    expect(await stateOf(insertPast([{ chunk: excluded, start: 0 }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk: serverless, start: 0 }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk: small, start: 8 }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk: small, start: 0, length: 16 }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk: 999_999, start: 0 }]))).toBe('23514')
  })

  it('is refused under other rules than its lease has, and unaligned', async () => {
    expect(await stateOf(insertPast([{ chunk, start: 128, rules: rules.slice(2) }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk, start: 132 }]))).toBe('23514')
    expect(await stateOf(insertPast([{ chunk, start: 120, length: 12 }]))).toBe('23514')
  })

  it('is kept if it is free, and then counts', async () => {
    const free = await addRange('10.0.4.0/29', serverId)
    expect(await stateOf(insertPast([{ chunk: free, start: 0 }]))).toBe('done')
    expect(await stateOf(insertPast([{ chunk: free, start: 0 }]))).toBe('23P01')
  })
})

describe('what was leased', () => {
  it('cannot be changed, taken back to life or removed', async () => {
    const live = sql`where lease_id = ${lease}`
    for (const change of [sql`start = 8`, sql`chunk_id = chunk_id + 1`, sql`rules = '{1}'`, sql`lease_id = 0`]) {
      expect(await run(sql`update lease_blocks set ${change} ${live}`)).toBe('23001')
    }
    expect(await run(sql`update lease_blocks set leased_at = now() - interval '1 day' ${live}`)).toBe('23001')
    expect(await run(sql`delete from lease_blocks ${live}`)).toBe('23001')
    expect(await run(sql`truncate lease_blocks`)).toBe('23001')
    expect(await run(sql`update leases set rules = '{1}' where id = ${lease}`)).toBe('23001')
    expect(await run(sql`delete from leases where id = ${lease}`)).toBe('23001')
    expect(await run(sql`truncate leases cascade`)).toBe('23001')

    const gone = await reserve(db, { orderId: orders[1] ?? 0, groupId, step: 1, rules, quantity: 1 })
    const id = gone.ok ? gone.leaseId : 0
    await release(db, { leaseIds: [id] })
    expect(await run(sql`update lease_blocks set released_at = null where lease_id = ${id}`)).toBe('23001')
    expect(
      await run(sql`update lease_blocks set released_at = released_at + interval '1 second' where lease_id = ${id}`)
    ).toBe('23001')
    expect(await run(sql`update leases set state = 'active', released_at = null where id = ${id}`)).toBe('23001')
  })

  it('cannot be edited in the derived rows', async () => {
    expect(await run(sql`update rule_usage set bits = ~bits`)).toBe('23001')
    expect(await run(sql`delete from rule_usage`)).toBe('23001')
    expect(await run(sql`truncate rule_usage`)).toBe('23001')
    expect(await run(sql`insert into rule_usage (chunk_id, rule_id, bits) values (${chunk}, ${rules[0]}, B'1')`)).toBe(
      '23001'
    )
    expect(await run(sql`update rule_usage set free = '{}'`)).toBe('428C9')
  })

  it('keeps its chunk and its range', async () => {
    expect(await run(sql`update chunks set base = '10.9.9.0'`)).toBe('23001')
    expect(await run(sql`delete from rule_usage where chunk_id = ${chunk}`)).toBe('23001')
    expect(await run(sql`truncate chunks cascade`)).toBe('23001')
    expect(await run(sql`update cidrs set cidr = '10.9.9.0/24'`)).toBe('23001')
    expect(await run(sql`insert into cidrs (created_at, cidr) values (now(), '10.0.0.128/25')`)).toBe('23P01')
  })
})
