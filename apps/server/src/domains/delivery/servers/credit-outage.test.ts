import type { BulkRun, CreditPreview, Outage } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { auditLog } from '../../../infra/tables.ts'
import { users } from '../../accounts/tables.ts'
import { serverOutages } from '../../fleet/tables.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { expireOrders } from '../index.ts'
import { creditOrder, rescueOrders } from './index.ts'
import { startServersStack, type ServersStack } from './servers.fixture.ts'

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
  // Its customers hear of it, once.
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

  expect(await preview(lasting.id)).toMatchObject({ orders: 2, customers: 1, credited: 0 })
  const before = { one: await end(one), two: await end(two), late: await end(late) }
  const run = await credit(lasting.id)
  expect(run.data).toMatchObject({ action: 'order.credit_outage', total: 2 })
  const again = await credit(lasting.id)
  await Promise.all([stack.finish(run.data), stack.finish(again.data)])
  const input = { outage_id: lasting.id }
  await command(ctx, SYSTEM, unit => creditOrder(unit, one, input))

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
  const refused = await command(ctx, SYSTEM, unit => creditOrder(unit, late, input))
  expect(refused).toMatchObject({ ok: false, reason: 'nothing_to_credit' })
  expect(await command(ctx, SYSTEM, unit => creditOrder(unit, over, input))).toMatchObject({ ok: false })

  const mails = await stack.mails('outage-credited')
  expect(mails).toHaveLength(2)
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
  const [outage] = await ctx.db
    .insert(serverOutages)
    .values({
      serverId: first.id,
      startedAt: new Date(delivered - 5 * MINUTE),
      endedAt: new Date(delivered + HOUR),
      byHand: true
    })
    .returning()
  const was = await end(id)
  await stack.finish((await credit(outage?.id ?? 0)).data)
  const gained = (await end(id)) - was
  expect(gained).toBeLessThanOrEqual(HOUR)
  expect(gained).toBeGreaterThan(HOUR - MINUTE)
  expect(await ctx.db.$count(orderEvents, eq(orderEvents.kind, 'credited'))).toBeGreaterThan(2)
}, 60_000)

test('the time in which two servers of an order were away is credited once', async () => {
  const { ctx, first } = stack
  await ctx.db.delete(serverOutages)
  const second = await stack.addNamed('127.63.1.0/29')
  const id = await stack.delivered(await stack.stock())
  expect(Object.keys(await stack.live(id))).toHaveLength(2)
  stack.pass(4 * HOUR)
  const ago = (hours: number) => new Date(ctx.now().getTime() - hours * HOUR)
  const away = await ctx.db
    .insert(serverOutages)
    .values([
      { serverId: first.id, startedAt: ago(3), endedAt: ago(1) },
      { serverId: second.id, startedAt: ago(2), endedAt: ago(0.5) }
    ])
    .returning({ id: serverOutages.id })
  const before = await end(id)
  for (const outage of away) await command(ctx, SYSTEM, unit => creditOrder(unit, id, { outage_id: outage.id }))
  expect((await end(id)) - before).toBe(2.5 * HOUR)
}, 60_000)
