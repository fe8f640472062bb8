import type { BulkRun, CreditPreview, Outage, OutageEntry, OutageOrder } from '@netlet/contract'
import { and, eq, inArray } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { ok } from '../../../infra/result.ts'
import { auditLog } from '../../../infra/tables.ts'
import { users } from '../../accounts/tables.ts'
import { serverOutages } from '../../servers/tables.ts'
import { leases } from '../../inventory/tables.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { expireOrders } from '../index.ts'
import { deliveryRetention } from '../jobs.ts'
import { proxies } from '../tables.ts'
import { creditOrder, rescueOrders } from './index.ts'
import { readOutageOrders } from './lost-time.ts'
import { startServersStack, type ServersStack } from './servers.fixture.ts'
import { addRow, addRows } from '../../../testing/rows.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.63.0.0/26')
}, 120_000)
afterAll(() => stack?.close())

const preview = async (id: number) => (await stack.admin.get<CreditPreview>(`/api/servers/outages/${id}/credit/`)).data
const credit = (id: number) => stack.admin.post<BulkRun | null>(`/api/servers/outages/${id}/credit/`, {})
const end = async (id: number) => (await stack.order(id)).expiredAt?.getTime() ?? 0

test('an outage is given back to every order that had working addresses there, once', async () => {
  const { ctx, first } = stack
  await stack.health()
  const one = await stack.delivered(8)
  const two = await stack.delivered(16)
  const over = await stack.delivered(8)
  await ctx.db.update(users).set({ language: 'zh-CN' })
  await first.agent.stop()
  await stack.health()
  // Paid during the outage, and working for the first time after it.
  const late = await stack.paid(8)
  const list = async () =>
    (await stack.admin.get<{ data: Outage[] }>(`/api/servers/servers/${first.id}/outages/`)).data.data
  const [lasting] = await list()
  if (!lasting) throw new Error('no outage')
  expect(lasting.ended_at).toBeNull()
  expect((await credit(lasting.id)).code).toBe(409)

  stack.pass(3 * HOUR)
  const known = async (state: string) =>
    (await stack.admin.get<{ data: OutageEntry[] }>(`/api/servers/outages/?state=${state}&server_id=${first.id}`)).data
      .data
  const concerned = async () =>
    (
      await stack.admin.get<{ data: OutageOrder[]; total: number }>(
        `/api/servers/outages/${lasting.id}/orders/?limit=2`
      )
    ).data
  // While it lasts, the time that each has lost so far. Only this test's clock has moved on.
  const sofar = async (offset: number) => {
    const read = await readOutageOrders(ctx.db, lasting.id, { limit: 2, offset }, ctx.now())
    return read.ok ? read.data : undefined
  }
  expect(await known('lasts')).toMatchObject([{ id: lasting.id, state: 'lasts', orders: 3, credited: 0 }])
  expect(await known('open')).toEqual([])
  const begun = await sofar(0)
  expect(begun).toMatchObject({ total: 3, data: [{ id: one, part: 'running' }, { id: two }] })
  expect(begun?.data[0]?.seconds).toBeGreaterThanOrEqual((3 * HOUR) / 1000)
  expect((await sofar(2))?.data).toMatchObject([{ id: over }])
  // Its customers are notified once.
  await stack.health()
  await Promise.all([rescueOrders(ctx), rescueOrders(ctx)])
  await rescueOrders(ctx)
  expect(await stack.mails('server-outage')).toHaveLength(3)
  await ctx.db
    .update(orders)
    .set({ expiredAt: new Date(0) })
    .where(eq(orders.id, over))
  await expireOrders(ctx)
  await first.agent.start()
  await stack.health()
  await stack.settle()
  expect(await stack.order(late)).toMatchObject({ state: 'delivered' })

  const planned = await preview(lasting.id)
  expect(planned).toMatchObject({ orders: 2, customers: 1, credited: 0, mails: 1 })
  expect(planned.lost.total).toBe(planned.lost.least + planned.lost.most)
  expect(planned.lost.least).toBeGreaterThanOrEqual((3 * HOUR) / 1000)
  expect(await known('open')).toMatchObject([{ id: lasting.id, state: 'open' }])
  const before = { one: await end(one), two: await end(two), late: await end(late) }
  const run = await credit(lasting.id)
  expect(run.data).toMatchObject({ action: 'order.credit_outage', total: 2 })
  const again = await credit(lasting.id)
  await Promise.all([stack.finish(run.data), stack.finish(again.data)])
  const input = { outage_id: lasting.id }
  await command(ctx, SYSTEM, unit => creditOrder(unit, one, { id: 1, input }))
  const found = await stack.admin.get<{ data: OutageEntry[] }>(`/api/servers/outages/?search=no-such-server`)
  expect(found.data.data).toEqual([])
  expect(await known('credited')).toMatchObject([{ id: lasting.id, state: 'credited', credited: 2 }])
  expect((await concerned()).data).toMatchObject([{ part: 'credited' }, { part: 'credited' }])
  const byHand = (is: boolean) =>
    ctx.db.update(serverOutages).set({ byHand: is }).where(eq(serverOutages.id, lasting.id))
  await byHand(true)
  expect(await stack.admin.delete(`/api/servers/outages/${lasting.id}/`)).toMatchObject({
    code: 409,
    data: { reason: 'outage_credited', params: { count: 2 } }
  })
  await byHand(false)
  const shown = await stack.admin.get<OutageEntry>(`/api/servers/outages/${lasting.id}/`)
  expect(shown.data).toMatchObject({ server: { id: first.id }, by_hand: false })
  expect((await stack.admin.get('/api/servers/outages/999999/')).code).toBe(404)
  expect((await stack.admin.get('/api/servers/outages/999999/orders/')).code).toBe(404)

  for (const [id, was] of [
    [one, before.one],
    [two, before.two]
  ] as const) {
    const gained = (await end(id)) - was
    expect(gained).toBeGreaterThan(3 * HOUR - MINUTE)
    expect(gained).toBeLessThan(3 * HOUR + 5 * MINUTE)
    const events = await ctx.db.select().from(orderEvents).where(eq(orderEvents.orderId, id))
    expect(events.filter(event => event.kind === 'credited')).toMatchObject([{ detail: { outage: lasting.id } }])
  }
  expect(await end(late)).toBe(before.late)
  expect(await preview(lasting.id)).toMatchObject({ orders: 0, credited: 2 })
  expect((await credit(lasting.id)).data).toBeNull()
  const refused = await command(ctx, SYSTEM, unit => creditOrder(unit, late, { id: 1, input }))
  expect(refused).toMatchObject({ ok: false, reason: 'nothing_to_credit' })
  expect(await command(ctx, SYSTEM, unit => creditOrder(unit, over, { id: 1, input }))).toMatchObject({ ok: false })

  const mails = await stack.mails('outage-credited')
  // One for both orders.
  expect(mails).toHaveLength(1)
  expect(mails[0]).toMatchObject({ to: 'buyer1@example.com', language: 'zh-CN' })
  const actions = (await ctx.db.select().from(auditLog)).map(entry => entry.action)
  expect(actions.filter(action => action === 'order.credit')).toHaveLength(2)
  expect(actions).toContain('server.credit_outage')
}, 60_000)

test('an order is credited for the part of an outage in which its addresses were there', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(8)
  const delivered = (await stack.order(id)).paidAt?.getTime() ?? 0
  stack.pass(DAY)
  const outage = await addRow(ctx, serverOutages, {
    serverId: first.id,
    startedAt: new Date(delivered - 5 * MINUTE),
    endedAt: new Date(delivered + HOUR),
    byHand: true
  })
  const was = await end(id)
  await stack.finish((await credit(outage.id)).data)
  const gained = (await end(id)) - was
  expect(gained).toBeLessThanOrEqual(HOUR)
  expect(gained).toBeGreaterThan(HOUR - MINUTE)
  expect(await ctx.db.$count(orderEvents, eq(orderEvents.kind, 'credited'))).toBeGreaterThan(2)
}, 60_000)

test('time in which two servers of an order were away is credited once', async () => {
  const { ctx, first } = stack
  await ctx.db.delete(serverOutages)
  const second = await stack.addNamed('127.63.1.0/29')
  const id = await stack.delivered(await stack.stock())
  expect(Object.keys(await stack.live(id))).toHaveLength(2)
  stack.pass(4 * HOUR)
  const ago = (hours: number) => new Date(ctx.now().getTime() - hours * HOUR)
  const away = await addRows(ctx, serverOutages, [
    { serverId: first.id, startedAt: ago(3), endedAt: ago(1) },
    { serverId: second.id, startedAt: ago(2), endedAt: ago(0.5) }
  ])
  const before = await end(id)
  for (const outage of away)
    await command(ctx, SYSTEM, unit => creditOrder(unit, id, { id: 1, input: { outage_id: outage.id } }))
  expect((await end(id)) - before).toBe(2.5 * HOUR)
}, 60_000)

test('an outage is credited in full after an earlier one was credited on addresses that were given back long ago', async () => {
  const { ctx } = stack
  await ctx.db.delete(serverOutages)
  const first = await stack.addNamed('127.63.2.0/29')
  const second = await stack.addNamed('127.63.3.0/29')
  const id = await stack.delivered(await stack.stock())
  expect(Object.keys(await stack.live(id)).map(Number)).toEqual(expect.arrayContaining([first.id, second.id]))
  stack.pass(4 * HOUR)
  const enter = async (serverId: number) => {
    const [from, to] = [3, 1].map(hours => new Date(ctx.now().getTime() - hours * HOUR))
    const outage = await addRow(ctx, serverOutages, {
      serverId,
      startedAt: from ?? ctx.now(),
      endedAt: to ?? ctx.now()
    })
    const before = await end(id)
    await command(ctx, SYSTEM, unit => creditOrder(unit, id, { id: 1, input: { outage_id: outage.id } }))
    return (await end(id)) - before
  }
  expect(await enter(first.id)).toBe(2 * HOUR)
  // It left the first server, and goes on for a year.
  const onFirst = and(eq(proxies.orderId, id), eq(proxies.serverId, first.id))
  const left = { state: 'retired', updatedAt: ctx.now() } as const
  const gone = await ctx.db.update(proxies).set(left).where(onFirst).returning({ lease: proxies.leaseId })
  const leaseIds = gone.flatMap(({ lease }) => lease ?? [])
  await ctx.db.update(leases).set({ state: 'released', releasedAt: ctx.now() }).where(inArray(leases.id, leaseIds))
  stack.pass(95 * DAY)
  const until = new Date(ctx.now().getTime() + 300 * DAY)
  await ctx.db.update(orders).set({ expiredAt: until }).where(eq(orders.id, id))
  const forget = (now: number) =>
    command(ctx, SYSTEM, async unit => ok(await deliveryRetention[0]?.remove(unit, new Date(now - 90 * DAY), 1000)))
  await forget(ctx.now().getTime())
  expect(await enter(second.id)).toBe(2 * HOUR)
  // Once the order has been over for as long, nothing is credited any more.
  await forget(until.getTime() + 100 * DAY)
  expect(await ctx.db.$count(proxies, onFirst)).toBe(0)
}, 60_000)
