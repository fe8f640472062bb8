import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allQueues } from '../../workers.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { assignCidrs, reserve } from '../inventory/index.ts'
import { orders } from '../orders/tables.ts'
import { addRow } from '../../testing/rows.ts'
import { meanwhile } from '../../testing/one-connection.ts'
import { serverGroups } from '../servers/tables.ts'
import { confirmOutcomes } from './advance.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: () => undefined, queues: allQueues })
})
afterAll(() => shop?.close())

/** An expired order whose user one agent still has. */
async function addExpired(name: string, range: string): Promise<number> {
  const { db } = shop.ctx
  const serverId = await addServer(db, name)
  const rule = await addRule(db, name)
  await inTransaction(db, assignCidrs, serverId, [range])
  const groupId = await addGroup(db, name, [serverId])
  const [orderId = 0] = await addOrders(db, groupId, 1)
  const leased = await db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity: 1 }))
  if (!leased.ok) throw new Error(leased.reason)
  await db.update(orders).set({ state: 'expired' }).where(eq(orders.id, orderId))
  await db.execute(sql`insert into agent_users (server_id, username, order_id, password, prefixes, rules, wanted)
    values (${serverId}, ${name}, ${orderId}, 'x', '{}', '{}', false)`)
  return orderId
}

const holds = async (orderId: number) => {
  const { rows } = await shop.ctx.db.execute<{ leases: number; users: number }>(sql`select
    (select count(*) from leases where order_id = ${orderId} and state <> 'released') as leases,
    (select count(*) from agent_users where order_id = ${orderId}) as users`)
  return rows[0]
}

test('the orders are locked before the fleet writes, and advance with its result', async () => {
  const { ctx } = shop
  const orderId = await addExpired('gone', '127.81.0.0/29')
  await confirmOutcomes(ctx)([orderId], async unit => {
    const lock = async () => ctx.db.execute(sql`select 1 from orders where id = ${orderId} for update nowait`)
    await expect(meanwhile(lock)).rejects.toMatchObject({ cause: { code: '55P03' } })
    await unit.tx.execute(sql`delete from agent_users where order_id = ${orderId}`)
  })
  expect(await holds(orderId)).toEqual({ leases: 0, users: 0 })
})

test('if the fleet’s write fails, it is rolled back, and nothing returns to stock', async () => {
  const orderId = await addExpired('fails', '127.82.0.0/29')
  const failing = confirmOutcomes(shop.ctx)([orderId], async unit => {
    await unit.tx.execute(sql`delete from agent_users where order_id = ${orderId}`)
    throw new Error('the agent is away')
  })
  await expect(failing).rejects.toThrow('the agent is away')
  expect(await holds(orderId)).toEqual({ leases: 1, users: 1 })
})

test('outcomes without an order are written too', async () => {
  await confirmOutcomes(shop.ctx)([], async unit => {
    await addRow(unit, serverGroups, { name: 'written' })
  })
  const { rows } = await shop.ctx.db.execute(sql`select 1 from server_groups where name = 'written'`)
  expect(rows).toHaveLength(1)
})
