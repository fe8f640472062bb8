import { setTimeout as sleep } from 'node:timers/promises'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { addTestServer, startFleetShop } from '../convergence/fleet.fixture.ts'
import { addGroup, addOrders, addRule } from '../inventory/inventory.fixture.ts'
import { lockInventory } from '../inventory/index.ts'
import { lockOrder } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { payments } from '../payments/tables.ts'
import { startDelivery } from './index.ts'
import { addRow } from '../../testing/rows.ts'

let world: TestShop

beforeAll(async () => {
  world = await startFleetShop()
})
afterAll(() => world?.close())

async function someoneWaits(): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(20)) {
    const { rows } = await world.ctx.db.execute<{ waiting: number }>(sql`select count(*) as waiting
      from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`)
    if ((rows[0]?.waiting ?? 0) > 0) return
    if (Date.now() > deadline) throw new Error('nobody waits for a lock')
  }
}

test('a delivery in spite of missing lines does not deadlock with a payment of the same customer', async () => {
  const { ctx } = world
  const rule = await addRule(ctx.db, 'spite')
  const serverId = await addTestServer(ctx, 'spite', { ranges: ['127.44.0.0/29'] })
  const groupId = await addGroup(ctx.db, 'spite', [serverId])
  const [orderId = 0] = await addOrders(ctx.db, groupId, 1)
  const [order] = await ctx.db
    .update(orders)
    .set({ state: 'failed', paidAt: ctx.now(), payAmount: '9.00', platformOrderId: '77', rules: [rule] })
    .where(eq(orders.id, orderId))
    .returning()
  if (!order) throw new Error('no order')
  await addRow(ctx, payments, {
    orderId,
    platformOrderId: '77',
    platformOrderNumber: '#77',
    kind: 'purchase',
    amount: '9.00',
    discount: '0.00',
    accepted: false
  })
  // In the order of a settlement: first the points, then the addresses.
  const { delivering } = await ctx.db.transaction(async tx => {
    await tx
      .update(users)
      .set({ levelPoints: sql`${users.levelPoints} + 1` })
      .where(eq(users.id, order.userId))
    const asked = {
      delivering: command(ctx, SYSTEM, async unit => {
        const locked = await lockOrder(unit, orderId)
        if (!locked) throw new Error('no order')
        return startDelivery(unit, locked)
      })
    }
    await someoneWaits()
    await lockInventory(tx)
    return asked
  })
  expect(await delivering).toBe(true)
})
