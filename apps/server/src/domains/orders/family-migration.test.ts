import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { assignCidrs, reserve } from '../inventory/index.ts'

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

/** A group with one server of these ranges, and orders of one of its plans. */
async function groupOf(
  name: string,
  ranges: string[],
  count: number
): Promise<{ groupId: number; orderIds: number[] }> {
  const serverId = await addServer(db, name)
  await inTransaction(db, assignCidrs, serverId, ranges)
  const groupId = await addGroup(db, name, [serverId])
  const orderIds = await addOrders(db, groupId, count)
  await db.execute(sql`update variants set server_group_id = ${groupId}
    where id in (select variant_id from orders where server_group_id = ${groupId})`)
  return { groupId, orderIds }
}

/** The migration's changes of rows; its columns already exist. */
async function migrateRows(): Promise<void> {
  const statements = migrationStatements('_address-family.sql')
  const changes = statements.filter(statement => /^\s*(--.*\n)*\s*UPDATE /.test(statement))
  expect(changes).toHaveLength(3)
  for (const statement of changes) await db.execute(sql.raw(statement))
}

test('groups of IPv6 alone go on selling it, and every order keeps the kind of addresses that it got', async () => {
  const rule = await addRule(db, 'rule')
  const four = await groupOf('four', ['10.1.0.0/29'], 1)
  const six = await groupOf('six', ['2001:db8:1::/61'], 2)
  const both = await groupOf('both', ['10.2.0.0/30', '2001:db8:2::/62'], 3)
  const lease = (groupId: number, orderId = 0, quantity = 1) =>
    reserve(db, { orderId, groupId, step: 1, rules: [rule], quantity, family: 'any' })
  for (const [groupId, orderId, quantity] of [
    [four.groupId, four.orderIds[0], 8],
    [six.groupId, six.orderIds[0], 8],
    [both.groupId, both.orderIds[0], 3],
    [both.groupId, both.orderIds[1], 3],
    [both.groupId, both.orderIds[2], 2]
  ] as const)
    expect(await lease(groupId, orderId, quantity)).toMatchObject({ ok: true })
  await migrateRows()
  const { rows } = await db.execute<{ id: number; family: string; sold: string }>(sql`
    select o.id::int, o.address_family as family, v.address_family as sold
    from orders o join variants v on v.id = o.variant_id order by o.id`)
  const of = ({ orderIds }: { orderIds: number[] }) =>
    orderIds.map(id => {
      const row = rows.find(one => one.id === id)
      return `${row?.sold} ${row?.family}`
    })
  expect(of(four)).toEqual(['ipv4 ipv4'])
  // One of them waits for addresses.
  expect(of(six)).toEqual(['ipv6 ipv6', 'ipv6 ipv6'])
  expect(of(both).toSorted()).toEqual(['ipv4 any', 'ipv4 ipv4', 'ipv4 ipv6'])
})
