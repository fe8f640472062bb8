import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR, SECOND } from '../../infra/clock.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { servers } from '../servers/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { startBooks, type Books } from './books.fixture.ts'

// The customer paid a renewal in time, and the shop hears of it after the order and its grace have ended.
let books: Books

beforeAll(async () => {
  books = await startBooks()
}, 60_000)
afterAll(() => books?.world.close())
afterEach(async () => {
  const { ctx } = books.world.shop
  await ctx.db.update(servers).set({ status: 'active' })
  await writeSettings(ctx, { grace_hours: 24 })
})

const endOf = ({ expiredAt }: OrderRow) => expiredAt?.getTime() ?? 0
const moveTo = (at: number) => books.world.advance(at - books.now().getTime())

/** The order's end passes, then its grace, if it has one; the jobs run after each. */
async function end(order: OrderRow, grace: number): Promise<void> {
  const { world } = books
  await writeSettings(world.shop.ctx, { grace_hours: grace / HOUR })
  await moveTo(endOf(order) + SECOND)
  await expireOrders(world.shop.ctx)
  await moveTo(endOf(order) + 20 * SECOND + grace)
  await endGraces(world.shop.ctx)
}

/** @param paid in milliseconds after the order's expiry */
const renewalOf = (order: OrderRow, paid: number) => ({
  ...books.paymentFor(order, { renewal: true }),
  processed_at: new Date(endOf(order) + paid).toISOString()
})

async function addressesOf({ id }: OrderRow): Promise<string[]> {
  const { rows } = await books
    .db()
    .execute<{ ip: string }>(
      sql`select host(ip) as ip from proxies where order_id = ${id} and state <> 'retired' order by ip`
    )
  return rows.map(({ ip }) => ip)
}

async function changedInMail(paid: { id: number }): Promise<number | undefined> {
  const { rows } = await books
    .db()
    .execute<{ changed: number }>(
      sql`select (data -> 'data' ->> 'changed')::int as changed from pgboss.job where data ->> 'key' = ${`renewed:${paid.id}`}`
    )
  return rows[0]?.changed
}

const CASES = [
  { when: 'before the expiry, without a grace', grace: 0, paid: -10 * SECOND, confirmed: true, lost: 0 },
  { when: 'before the expiry, with an agent away', grace: 0, paid: -10 * SECOND, confirmed: false, lost: 0 },
  { when: 'in the grace', grace: 24 * HOUR, paid: 4 * HOUR, confirmed: true, lost: 4 * HOUR }
]

test.for(CASES)('a renewal that was paid $when renews, and loses no time', async ({ grace, paid, confirmed, lost }) => {
  const { world, tell, delivered } = books
  const { order } = await delivered()
  const before = await addressesOf(order)
  await end(order, grace)
  if (confirmed) await world.confirm()
  const renewal = renewalOf(order, paid)
  const heardAt = books.now().getTime()
  expect(await tell('orders/paid', renewal)).toBe('settled')
  expect(await tell('orders/paid', renewal)).toBe('ignored')
  await world.confirm()
  const renewed = await world.row(order.id)
  expect(renewed).toMatchObject({ state: 'delivered', deliveryNum: 8, graceUntil: null })
  // The clock runs during the calls.
  expect(Math.abs(endOf(renewed) - (heardAt - lost + 30 * DAY))).toBeLessThan(30 * SECOND)
  // Addresses that an agent may still serve are the order's own.
  if (!confirmed) expect(await addressesOf(order)).toEqual(before)
  expect(await addressesOf(order)).toHaveLength(8)
  expect(await changedInMail(renewal)).toBe(confirmed ? 8 : 0)
})

test('time that was served after the expiry, while no worker ended the order, is not given again', async () => {
  const { world, tell, delivered } = books
  const { order } = await delivered()
  await writeSettings(world.shop.ctx, { grace_hours: 24 })
  await moveTo(endOf(order) + 3 * DAY)
  await expireOrders(world.shop.ctx)
  expect((await world.row(order.id)).state).toBe('expired')
  expect(await tell('orders/paid', renewalOf(order, -HOUR))).toBe('settled')
  expect(Math.abs(endOf(await world.row(order.id)) - (endOf(order) + 30 * DAY))).toBeLessThan(30 * SECOND)
})

test('without addresses it is held as out of stock, and Apply renews once there are some', async () => {
  const { world, tell, delivered, openOf, act, db } = books
  const { order } = await delivered()
  await end(order, 24 * HOUR)
  await world.confirm()
  await db().update(servers).set({ status: 'paused' })
  const renewal = renewalOf(order, HOUR)
  expect(await tell('orders/paid', renewal)).toBe('too_late')
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', expiredAt: order.expiredAt })
  const { rows } = await db().execute(
    sql`select data -> 'data' ->> 'why' as why from pgboss.job where data ->> 'key' = ${`not-delivered:${renewal.id}`}`
  )
  expect(rows).toEqual([{ why: 'out_of_stock' }])
  const apply = async () => act((await openOf(renewal))[0], 'apply', { order: order.publicId })
  expect(await apply()).toMatchObject({ status: 409, data: { reason: 'out_of_stock' } })
  await world.advance(2 * DAY)
  await db().update(servers).set({ status: 'active' })
  expect(await apply()).toMatchObject({ code: 2000 })
  await world.confirm()
  const renewed = await world.row(order.id)
  expect(renewed).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  expect(books.daysLeft(renewed)).toBe(30)
})

test('one that was paid after the grace is too late, also if an operator applies it', async () => {
  const { tell, delivered, openOf, act } = books
  const { order } = await delivered()
  await end(order, HOUR)
  const renewal = renewalOf(order, HOUR + 10 * SECOND)
  expect(await tell('orders/paid', renewal)).toBe('too_late')
  const [open] = await openOf(renewal)
  const applied = await act(open, 'apply', { order: order.publicId })
  expect(applied).toMatchObject({ status: 409, data: { reason: 'order_cannot_renew' } })
  expect(await books.paymentRow(renewal)).toMatchObject({ accepted: false })
})
