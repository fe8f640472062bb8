import { setTimeout as sleep } from 'node:timers/promises'
import { Settings } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop, type TestUser } from '../../testing/shop.ts'
import { grantForPayment } from '../rewards/grant-for-payment.ts'
import { pointRecords } from '../rewards/tables.ts'
import { accountRoutesWithPorts } from './accounts.fixture.ts'
import { users } from './tables.ts'

let shop: TestShop
let admin: TestClient & { user: TestUser }

beforeAll(async () => {
  shop = await startTestShop({ routes: accountRoutesWithPorts })
  admin = await shop.admin()
})
afterAll(() => shop.close())

/** Waits until so many transactions wait for a lock. */
async function waiting(count: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; ; await sleep(10)) {
    const { rows } = await shop.ctx.db.execute<{ waiting: number }>(sql`select count(*) as waiting
      from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`)
    if ((rows[0]?.waiting ?? 0) >= count) return
    if (Date.now() > deadline) throw new Error('nobody waits for a lock')
  }
}

const deadlocks = async () => {
  const { rows } = await shop.ctx.db.execute<{ count: number }>(
    sql`select deadlocks as count from pg_stat_database where datname = current_database()`
  )
  return rows[0]?.count ?? 0
}

test.each([
  ['a ban', (userId: number) => admin.post(`/api/users/u/${userId}/baned_user/`)],
  ['a demotion', (userId: number) => admin.put(`/api/users/u/${userId}/`, { is_superuser: false })]
])('%s that deadlocks with what a payment earns succeeds, and so does the payment', async (what, remove) => {
  const { ctx } = shop
  // Everything locks users by their ids. Somebody who takes the buyer first, against that order, still undoes nothing.
  const buyer = await shop.admin()
  await ctx.db.update(users).set({ invitedBy: admin.user.id }).where(eq(users.id, buyer.user.id))
  const before = await deadlocks()
  let runs = 0
  const removing = Promise.withResolvers<{ code: number }>()
  const settled = command(ctx, SYSTEM, async unit => {
    runs += 1
    await unit.tx.execute(sql`select 1 from users where id = ${buyer.user.id} for update`)
    if (runs === 1) {
      void remove(buyer.user.id).then(removing.resolve, removing.reject)
      // It has the other administrator, and waits for the buyer, whom we have.
      await waiting(1)
    }
    await grantForPayment(unit, {
      orderPublicId: what,
      userId: buyer.user.id,
      amount: '100.00',
      settings: Settings.parse({}),
      paymentId: what
    })
  })
  await settled
  expect(await removing.promise).toMatchObject({ code: 2000 })
  await expect.poll(deadlocks).toBeGreaterThan(before)
  const granted = await ctx.db
    .select()
    .from(pointRecords)
    .where(sql`${pointRecords.cause} like ${`payment:${what}:%`}`)
  expect(Object.fromEntries(granted.map(({ kind, point }) => [kind, point]))).toEqual({ coins: 5, level: 100 })
  expect(granted).toHaveLength(2)
})
