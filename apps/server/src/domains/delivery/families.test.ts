import type { OrderFamily, Product } from '@netlet/contract'
import { and, eq, inArray, ne } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { userActor } from '../../testing/session.ts'
import { deliveryPorts } from '../../workers.ts'
import { quoteVariant } from '../catalog/quote.ts'
import { variants } from '../catalog/tables.ts'
import { agentUsers, servers } from '../servers/tables.ts'
import { assignCidrs } from '../inventory/index.ts'
import { lockOrder, placeOrder, queueTask, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { type Buyer, type OrderShop, startOrderShop } from '../payments/order-shop.fixture.ts'
import { moveOffServer } from './servers/move-off-server.ts'
import { planAction } from './servers/commands.ts'
import { proxies } from './tables.ts'
import { runTask } from './tasks.ts'
import { inTransaction } from '../inventory/inventory.fixture.ts'
import { leaseMissing } from './lease-more.ts'

/** Two servers of one group, each with 32 IPv4 addresses and 32 IPv6 /64s; a plan of each family. */
let open: OrderShop
let buyer: Buyer
let ctx: OrderShop['shop']['ctx']
const [one, other] = ['127.90.0.0/27', '127.90.1.0/27']

beforeAll(async () => {
  open = await startOrderShop({ ranges: [one, other] })
  ;({ ctx } = open.shop)
  buyer = await open.customer('buyer1')
  for (const [at, range] of [one, other].entries()) {
    const six = `2001:db8:${at + 1}::/59`
    await inTransaction(ctx.db, assignCidrs, open.serverIds[at] ?? 0, [range, six])
  }
  const [four] = await ctx.db.select().from(variants)
  if (!four) throw new Error('the shop has a plan')
  const { id: _, ...same } = four
  const six = { platformId: '12', name: 'Six', option1: 'Six', addressFamily: 'ipv6', egress: 'session' } as const
  await ctx.db.insert(variants).values({ ...same, ...six })
})
afterAll(() => open.close())
beforeEach(() => endAll())

const place = async (option1: string, quantity: number): Promise<OrderRow> => {
  const options = { option1, option2: '', option3: '' }
  const { product_id: productId } = open.wanted()
  const placed = await placeOrder(ctx, userActor(buyer.user.id), { productId, quantity, options, rules: open.rules })
  if (!placed.ok) throw new Error(placed.reason)
  return open.row(placed.data.id)
}
const delivered = async (option1: string, quantity: number): Promise<OrderRow> => {
  const order = await place(option1, quantity)
  const lines = { '11': 10_000, '12': 10_000, '901': 10_000, '902': 10_000 }
  expect(await open.pay(order, { lines })).toMatchObject({ outcome: 'settled' })
  await open.confirm()
  return open.row(order.id)
}
const ipsOf = async (orderId: number): Promise<string[]> => {
  const rows = await ctx.db
    .select({ ip: proxies.ip })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), ne(proxies.state, 'retired')))
  return rows.map(({ ip }) => ip).toSorted()
}
const familyOf = (ips: string[]): string => [...new Set(ips.map(ip => (ip.includes(':') ? 'ipv6' : 'ipv4')))].join()
const stockOf = async (option1: string): Promise<number> => {
  const options = { option1, option2: '', option3: '' }
  const quoted = await quoteVariant(ctx.db, { productId: open.wanted().product_id, options, rules: open.rules })
  if (!quoted.ok) throw new Error(quoted.reason)
  return quoted.data.stock
}
const leave = (orderId: number, serverId: number) =>
  command(ctx, SYSTEM, unit => moveOffServer(unit, orderId, { serverId }))
const serverOf = (ip: string): number => open.serverIds[/^(?:127\.90\.1\.|2001:db8:2:)/.test(ip) ? 1 : 0] ?? 0
/** Returns all addresses to stock for the next test. */
const endAll = async () => {
  await ctx.db.update(servers).set({ status: 'active' })
  const isOpen = inArray(orders.state, ['delivering', 'partly_delivered'])
  const past = { state: 'delivered', deliveredAt: new Date(0), expiredAt: new Date(1) } as const
  await ctx.db.update(orders).set(past).where(isOpen)
  await open.endAll()
  expect([await stockOf('Here'), await stockOf('Six')]).toEqual([64, 64])
}

test('stock, price and orders of a family look at its ranges alone', async () => {
  expect([await stockOf('Here'), await stockOf('Six')]).toEqual([64, 64])
  const order = await delivered('Six', 8)
  expect(order).toMatchObject({ state: 'delivered', addressFamily: 'ipv6', egress: 'session' })
  const ips = await ipsOf(order.id)
  expect(ips).toHaveLength(8)
  for (const ip of ips) expect(ip).toMatch(/^2001:db8:[\da-f:]+::1$/)
  expect([await stockOf('Here'), await stockOf('Six')]).toEqual([64, 56])

  // Its agent gets the whole /64s that connections leave from. An order with a fixed exit has only the address.
  const users = await ctx.db.select().from(agentUsers).where(eq(agentUsers.orderId, order.id))
  expect(users.map(({ egress }) => egress)).toEqual(['session'])
  expect(users.flatMap(({ prefixes }) => prefixes).toSorted()).toEqual(ips.map(ip => ip.replace(/::1$/, '::/64')))
  const four = await delivered('Here', 8)
  expect(familyOf(await ipsOf(four.id))).toBe('ipv4')
  const fixed = await ctx.db.select().from(agentUsers).where(eq(agentUsers.orderId, four.id))
  expect(fixed.map(({ egress }) => egress)).toEqual(['fixed'])

  // The other family does not make up for what is short.
  await expect(place('Six', 64)).rejects.toThrow('out_of_stock')
  await delivered('Six', 56)
  expect([await stockOf('Here'), await stockOf('Six')]).toEqual([56, 0])
  await expect(place('Six', 8)).rejects.toThrow('out_of_stock')
  expect(familyOf(await ipsOf((await delivered('Here', 56)).id))).toBe('ipv4')
  await expect(place('Here', 8)).rejects.toThrow('out_of_stock')
})

test('counters of the shop and the console tell the families apart', async () => {
  const admin = await open.admin('boss1')
  await delivered('Six', 64)
  const { data } = await admin.get<{ data: Product[] }>('/api/products/products/')
  const rows = data.data.flatMap(({ variants: all }) => all)
  const told = rows.map(({ variant_name, variant_stock, address_family, egress }) => ({
    variant_name,
    // Figures of lists may be some seconds old.
    enough: variant_stock <= 64,
    address_family,
    egress
  }))
  expect(told).toEqual([
    { variant_name: 'Here', enough: true, address_family: 'ipv4', egress: 'fixed' },
    { variant_name: 'Six', enough: true, address_family: 'ipv6', egress: 'session' }
  ])
  const group = async (family: string) => {
    const path = `/api/products/group_stock/?server_group=${open.groupId}&cart_step=8&address_family=${family}`
    return (await admin.get<{ stock: number; max_step: number }>(path)).data
  }
  expect([await group('ipv4'), await group('ipv6')]).toMatchObject([
    { stock: 64, max_step: 32 },
    { stock: 0, max_step: 32 }
  ])
  const low = await admin.get<{ data: Product[] }>('/api/products/products/?low_stock=1')
  expect(low.data.data).toHaveLength(1)
})

test('other addresses, a move and a rescue stay in the family', async () => {
  const order = await delivered('Six', 8)
  const before = await ipsOf(order.id)
  const taskId = await command(ctx, SYSTEM, async unit => {
    const locked = await lockOrder(unit, order.id)
    if (!locked) throw new Error('the order is there')
    return queueTask(unit, locked, 'change')
  })
  await runTask(ctx, deliveryPorts, { orderId: order.id, taskId })
  await open.confirm()
  const changed = await ipsOf(order.id)
  expect([familyOf(changed), changed.length]).toEqual(['ipv6', 8])
  expect(changed.filter(ip => before.includes(ip))).toEqual([])

  const from = serverOf(changed[0] ?? '')
  const boss = userActor((await open.admin('boss2')).user.id, { isSuperuser: true })
  expect(await planAction(ctx, boss, from, { action: 'drain' })).toMatchObject({
    ok: true,
    data: { moves: { orders: 1, addresses: 8 }, stays: { orders: 0 } }
  })
  expect(await leave(order.id, from)).toMatchObject({ ok: true })
  await open.confirm()
  const moved = await ipsOf(order.id)
  expect([familyOf(moved), [...new Set(moved.map(serverOf))]]).toEqual([
    'ipv6',
    open.serverIds.filter(id => id !== from)
  ])

  await open.confirm()

  // The rest of IPv6 is sold, so it has no room, even if IPv4 is free.
  await delivered('Six', 56)
  const now = serverOf(moved[0] ?? '')
  expect(await planAction(ctx, boss, now, { action: 'drain' })).toMatchObject({ data: { moves: { orders: 0 } } })
  expect(await leave(order.id, now)).toMatchObject({ ok: false, reason: 'out_of_stock' })
  expect(await stockOf('Here')).toBe(64)
})

test('an order that lost addresses with its server gets others of its family, or none', async () => {
  const order = await delivered('Six', 8)
  await delivered('Six', 56)
  const serverId = serverOf((await ipsOf(order.id))[0] ?? '')
  await ctx.db.update(servers).set({ status: 'given_up' }).where(eq(servers.id, serverId))
  expect(await leave(order.id, serverId)).toMatchObject({ ok: true })
  const missing = () =>
    command(ctx, SYSTEM, async unit => {
      const locked = await lockOrder(unit, order.id)
      if (!locked) throw new Error('the order is there')
      return leaseMissing(unit, locked, 'part')
    })
  expect(await ipsOf(order.id)).toEqual([])
  expect(await missing()).toEqual({ leased: 0, missing: 8 })
  expect(await stockOf('Here')).toBe(32)
  await ctx.db.update(servers).set({ status: 'active' }).where(eq(servers.id, serverId))
  expect(await missing()).toEqual({ leased: 8, missing: 0 })
  expect(familyOf(await ipsOf(order.id))).toBe('ipv6')
})

test('older orders that got both families still get either', async () => {
  const order = await place('Here', 56)
  await ctx.db
    .update(orders)
    .set({ addressFamily: 'any' satisfies OrderFamily })
    .where(eq(orders.id, order.id))
  const lines = { '11': 10_000, '901': 10_000, '902': 10_000 }
  expect(await open.pay(order, { lines })).toMatchObject({ outcome: 'settled' })
  await open.confirm()
  const [server = 0] = open.serverIds
  expect(await leave(order.id, server)).toMatchObject({ ok: true })
  await open.confirm()
  const ips = await ipsOf(order.id)
  expect([ips.length, new Set(ips.map(serverOf)).size, familyOf(ips).split(',').length]).toEqual([56, 1, 2])
})
