import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { ok } from '../../infra/result.ts'
import { userActor } from '../../testing/session.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { orders } from '../orders/tables.ts'
import { userPreferences } from './tables.ts'

let shop: StockedShop
beforeAll(async () => {
  shop = await startStockedShop()
})
afterAll(() => shop?.close())

const DELETE = '/api/users/delete_account'
const password = TEST_PASSWORD
type Customer = Awaited<ReturnType<StockedShop['customer']>>

const place = (buyer: Customer) =>
  buyer.post<{ order_id: string }>('/api/orders/checkout', {
    product_id: shop.productId,
    quantity: 8,
    option_selected: { option1: 'New York', acl_selected: shop.rules.slice(0, 1) }
  })

/** An account that something refers to, so that its row stays when it is deleted. */
async function withHistory(): Promise<Customer> {
  const client = await shop.customer()
  await place(client)
  const { db } = shop.ctx
  await db.execute(sql`update orders set state = 'timed_out' where user_id = ${client.user.id}`)
  await db.execute(sql`update leases set state = 'released', released_at = now()
    where order_id in (select id from orders where user_id = ${client.user.id})`)
  return client
}

/** A command of a customer's that writes when it is told to. */
function held(userId: number): { written: Promise<unknown>; write: () => void; begun: Promise<void> } {
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const written = command(shop.ctx, userActor(userId), async ({ tx, now }) => {
    await tx.execute(sql`select 1`)
    begun.resolve()
    await gate.promise
    await tx.insert(userPreferences).values({ userId, key: 'held', value: 'private words', updatedAt: now })
    return ok(null)
  })
  return { written, write: gate.resolve, begun: begun.promise }
}

const left = (userId: number) => shop.ctx.db.$count(userPreferences, eq(userPreferences.userId, userId))

test.each(['a row that stays', 'no row any more'])(
  'what a customer does while the account is deleted is refused: %s',
  async kind => {
    const client = kind === 'no row any more' ? await shop.customer() : await withHistory()
    const { written, write, begun } = held(client.user.id)
    await begun
    expect((await client.post(DELETE, { password })).code).toBe(2000)
    write()
    expect(await written).toMatchObject({ ok: false, reason: 'unauthorized' })
    expect(await left(client.user.id)).toBe(0)
  }
)

const isDeletionWaiting = async () => {
  const { rows } = await shop.ctx.db.execute(sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike '%for update%'`)
  return rows.length > 0
}

test.each(['own', "an administrator's"])(
  'an order that is placed after a deletion asked what is owed keeps the account: %s deletion',
  async whose => {
    const client = await withHistory()
    const boss = await shop.admin()
    const free = Promise.withResolvers<void>()
    // Holds the deletion up where it locks the user: what is owed it has asked by then.
    const holding = command(shop.ctx, SYSTEM, async ({ tx }) => {
      await tx.execute(sql`select from users where id = ${client.user.id} for key share`)
      await free.promise
    })
    const deletion =
      whose === 'own' ? client.post(DELETE, { password }) : boss.delete(`/api/users/u/${client.user.id}/`)
    await expect.poll(isDeletionWaiting, { timeout: 20_000 }).toBe(true)
    const placed = await place(client)
    free.resolve()
    await holding
    expect(placed.code).toBe(2000)
    expect((await deletion).code).toBe(409)
    const [order] = await shop.ctx.db.select().from(orders).where(eq(orders.publicId, placed.data.order_id))
    expect(order).toMatchObject({ userId: client.user.id, state: 'placed' })
  }
)
