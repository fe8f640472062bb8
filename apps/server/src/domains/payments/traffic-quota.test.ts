import type { OrderTraffic } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { agentUsers, orderTraffic } from '../servers/tables.ts'
import { orderTrafficHours } from '../traffic/tables.ts'
import { trafficPorts, type OrderRow } from '../orders/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { tell } from './event-row.fixture.ts'

const GB = 1_000_000_000
let world: OrderShop
let buyer: Buyer
let other: Buyer
let ids = 920_000
const nextId = () => (ids += 1)

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  other = await world.customer('other1')
}, 120_000)
afterAll(() => world?.close())

const planIs = (traffic: number | null, mbps: number | null) =>
  world.shop.ctx.db.execute(sql`update variants set traffic_gb = ${traffic}, mbps = ${mbps}`)
async function delivered(): Promise<OrderRow> {
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  return world.row(order.id)
}
const limitsOf = async ({ id }: OrderRow) =>
  (await world.shop.ctx.db.select().from(orderTraffic).where(eq(orderTraffic.orderId, id)))[0]
const show = (person: Buyer, { id }: OrderRow) =>
  person.get<OrderTraffic>(`/api/orders/order_list/${id}/traffic/?by=day&last=7`)

test('an order keeps the limits that it was placed with, its addresses share their traffic, and a renewal adds a term’s', async () => {
  await planIs(5, 20)
  const placed = await world.place(buyer)
  await planIs(9, 30)
  await world.pay(placed)
  await world.confirm()
  const order = await world.row(placed.id)
  expect(await limitsOf(order)).toMatchObject({ allowed: 8 * 5 * GB, mbps: 20, used: 0 })
  // What is left stays, and counting restarts: the next term has its own notices.
  await world.shop.ctx.db
    .update(orderTraffic)
    .set({ used: 38 * GB, toldOf: 80 })
    .where(eq(orderTraffic.orderId, order.id))
  const id = nextId()
  expect(await world.pay(order, { renewal: true, id })).toMatchObject({ outcome: 'settled' })
  expect(await limitsOf(order)).toMatchObject({ allowed: 42 * GB, used: 0, toldOf: 0, mbps: 20 })
  // Its refund takes the traffic of that term with its days.
  await tell(world, 'refunds/create', {
    id: nextId(),
    order_id: id,
    transactions: [{ kind: 'refund', status: 'success', amount: order.amount }]
  })
  expect(await limitsOf(order)).toMatchObject({ allowed: 2 * GB, mbps: 20 })
})

test('a chargeback of a renewal takes what is unused, and its withdrawal gives back exactly that', async () => {
  await planIs(5, null)
  const order = await delivered()
  const leftOf = async () => {
    const { allowed, used } = (await limitsOf(order)) ?? {}
    return ((allowed ?? 0) - (used ?? 0)) / GB
  }
  const renewal = nextId()
  expect(await world.pay(order, { renewal: true, id: renewal })).toMatchObject({ outcome: 'settled' })
  const { db } = world.shop.ctx
  await db.execute(sql`update order_traffic set used = ${70 * GB} where order_id = ${order.id}`)
  await db.execute(sql`update orders set changes_used = 2, resets_used = 4 where id = ${order.id}`)
  const dispute = (topic: 'disputes/create' | 'disputes/update', status: string) =>
    tell(world, topic, {
      id: renewal,
      order_id: renewal,
      type: 'chargeback',
      status,
      amount: order.amount,
      currency: 'USD'
    })
  await dispute('disputes/create', 'needs_response')
  expect(await leftOf()).toBe(0)
  expect(await world.row(order.id)).toMatchObject({ changesUsed: 2, resetsUsed: 10 })
  // A term that is paid meanwhile owes nothing for it.
  expect(await world.pay(order, { renewal: true, id: nextId() })).toMatchObject({ outcome: 'settled' })
  await db.execute(sql`update orders set changes_used = 2, resets_used = 8 where id = ${order.id}`)
  await dispute('disputes/update', 'won')
  expect(await leftOf()).toBe(50)
  expect(await world.row(order.id)).toMatchObject({ changesUsed: 2, resetsUsed: 2 })
})

test('a plan without limits stays so for those who have it, and one of any size reaches the agents', async () => {
  await planIs(null, null)
  const free = await delivered()
  await planIs(1_000_000, null)
  expect(await world.pay(free, { renewal: true, id: nextId() })).toMatchObject({ outcome: 'settled' })
  expect(await limitsOf(free)).toMatchObject({ allowed: null, mbps: null })
  await world.shop.ctx.db.execute(sql`update variants set traffic_gb = 10000000`)
  expect((await limitsOf(await delivered()))?.allowed).toBeLessThan(Number.MAX_SAFE_INTEGER)
})

test('the customer sees what is used and left, others see nothing, and one mail says when it ends', async () => {
  await planIs(1, null)
  const order = await delivered()
  const { ctx } = world.shop
  expect((await show(buyer, order)).data).toMatchObject({ used: 0, allowed: 8 * GB, mbps: null, total: { up: 0 } })
  const [user] = await ctx.db.select().from(agentUsers).where(eq(agentUsers.orderId, order.id))
  const serverId = user?.serverId ?? 0
  await ctx.db.insert(orderTrafficHours).values({
    at: new Date(ctx.now().getTime() - 3_600_000),
    serverId,
    orderId: order.id,
    up: 3,
    down: 4,
    requests: 2,
    connections: 1,
    codes: { quota: 5, idle: 1 }
  })
  const hourly = await buyer.get<OrderTraffic>(`/api/orders/order_list/${order.id}/traffic/?by=hour&last=24`)
  expect(hourly.data.total).toEqual({ up: 3, down: 4, requests: 2, connections: 1, refused: 5, failed: 1 })
  expect(hourly.data).toMatchObject({ refusals: [{ code: 'quota', count: 5 }], errors: [{ code: 'idle', count: 1 }] })
  expect((await show(other, order)).status).toBe(404)
  const admin = await world.admin('boss1')
  expect((await show(admin, order)).data.allowed).toBe(8 * GB)
  expect((await admin.get<OrderTraffic>(`/api/users/u/${buyer.user.id}/traffic/?last=24`)).data.total.down).toBe(4)
  expect((await admin.get(`/api/servers/servers/${world.serverIds[0]}/traffic/`)).status).toBe(200)

  const ports = trafficPorts(ctx)
  const since = ctx.now()
  expect(await ports.ordersOf(ctx.db, [order.proxyUsername, 'nobody'], { serverId, since })).toEqual(
    new Map([[order.proxyUsername, order.id]])
  )
  // An agent reports nothing about a server that the order never had.
  expect(await ports.ordersOf(ctx.db, [order.proxyUsername], { serverId: 999_999, since })).toEqual(new Map())
  const news = { share: 100, used: 9 * GB, allowed: 8 * GB } as const
  for (let n = 0; n < 2; n++) await command(ctx, SYSTEM, unit => ports.notifyQuota(unit, order.id, news))
  const { rows } = await ctx.db.execute<{ to: string; key: string }>(sql`
    select data ->> 'to' as to, data ->> 'key' as key from pgboss.job
    where name = 'send-mail' and data ->> 'template' = 'traffic-used'`)
  expect(new Set(rows.map(({ key }) => key))).toEqual(
    new Set([`traffic:${order.id}:100:${8 * GB}:${order.expiredAt?.getTime() ?? 0}`])
  )
  expect(rows[0]?.to).toBe(buyer.user.email)
})

test('an order of a plan without limits has none, and says so', async () => {
  await planIs(null, null)
  const order = await delivered()
  expect((await show(buyer, order)).data).toMatchObject({ allowed: null, used: 0, mbps: null, connections: null })
  expect(await world.shop.ctx.db.select().from(agentUsers).where(eq(agentUsers.orderId, order.id))).toMatchObject([
    { quotaBytes: null }
  ])
})
