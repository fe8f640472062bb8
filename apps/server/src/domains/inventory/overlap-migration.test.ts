import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import { addCidr, audit, createRule, reserve } from './index.ts'

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

/** What the migration adds, and an older database does not have. Replaced functions are replaced again. */
const BEFORE = sql`
  drop table rule_overlaps, rule_intersections;
  drop function inventory.intersecting(int[])`

async function migrate(): Promise<void> {
  for (const statement of migrationStatements('_rule_overlaps.sql')) await db.execute(sql.raw(statement))
}

const rowsOf = async (query: SQL) => (await db.execute(query)).rows

test('existing rules keep their leases; overlaps are to be decided, shared sites are sold once, agents get their lists', async () => {
  const rules: number[] = []
  for (const name of ['wide', 'low', 'deep', 'one', 'two']) rules.push(await addRule(db, name))
  const [wide = 0, low = 0, deep = 0, one = 0, two = 0] = rules
  const lists: Record<number, string[]> = {
    [wide]: ['wide.test', 'both.test'],
    [low]: ['a.low.wide.test', 'low.wide.test', 'xwide.test'],
    [deep]: ['x.deep.low.wide.test'],
    [one]: ['same.test'],
    [two]: ['same.test', '203.0.113.9']
  }
  const serverId = await addServer(db, 'before')
  const groupId = await addGroup(db, 'before', [serverId])
  await inTransaction(db, addCidr, { cidr: '10.30.0.0/31', serverId })
  const [first = 0, second = 0, third = 0] = await addOrders(db, groupId, 3)
  for (const [orderId, rule] of [
    [first, one],
    [second, two]
  ] as const) {
    expect((await reserve(db, { orderId, groupId, step: 1, rules: [rule], quantity: 1 })).ok).toBe(true)
  }
  await db.execute(sql`insert into agent_users (server_id, username, password, prefixes, rules, refusal)
    values (${serverId}, 'u', 'p', '{10.30.0.0/32}', ${sql.param([wide])}::int[], 'no')`)
  const [user] = await rowsOf(sql`select generation from agent_users`)
  await db.execute(BEFORE)
  for (const [id, domains] of Object.entries(lists)) {
    await db.execute(sql`update acl_rules set domains = ${sql.param(domains)}::text[] where id = ${Number(id)}`)
  }
  await migrate()

  expect(
    await rowsOf(
      sql`select narrow_rule_id as narrow, broad_rule_id as broad, domain, winner from rule_overlaps order by 3, 1, 2`
    )
  ).toEqual([
    { narrow: low, broad: wide, domain: 'a.low.wide.test', winner: null },
    { narrow: low, broad: wide, domain: 'low.wide.test', winner: null },
    { narrow: deep, broad: wide, domain: 'x.deep.low.wide.test', winner: null },
    { narrow: deep, broad: low, domain: 'x.deep.low.wide.test', winner: null }
  ])
  expect(await rowsOf(sql`select rule_id, other_id from rule_intersections order by 1`)).toEqual([
    { rule_id: one, other_id: two },
    { rule_id: two, other_id: one }
  ])
  const [after] = await rowsOf(sql`select generation, refusal from agent_users`)
  expect(Number(after?.['generation'])).toBeGreaterThan(Number(user?.['generation']))
  expect(after?.['refusal']).toBeNull()
  // The address that both have stays with both. On the other one, each rule is sold alone.
  expect((await reserve(db, { orderId: third, groupId, step: 1, rules: [one], quantity: 1 })).ok).toBe(true)
  expect((await reserve(db, { orderId: third, groupId, step: 1, rules: [two], quantity: 1 })).ok).toBe(false)
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  // Rules can still be added and edited.
  const input = { name: 'new', description: '', price: '1.00', platformVariantId: '1', aclValue: 'new.test' }
  expect(await inTransaction(db, createRule, input)).toMatchObject({ ok: true })
})
