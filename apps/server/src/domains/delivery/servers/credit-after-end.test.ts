import type { BulkRun, CreditPreview } from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { serverOutages } from '../../servers/tables.ts'
import { lockOrder, orderRetention, renewOrder } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { writeSettings } from '../../settings/index.ts'
import { endGraces, expireOrders } from '../index.ts'
import { reviveDelivery } from '../revive.ts'
import { outageCredits } from '../tables.ts'
import { moveOrder, reopen } from './commands.ts'
import { creditOrder } from './index.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'
import { deliveryRefusal } from '../../payments/index.ts'
import { addRow } from '../../../testing/rows.ts'
import { lostTimeOf } from './lost-time.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.67.0.0/28')
  await writeSettings(stack.ctx, { grace_hours: 24 })
  await stack.health()
}, 120_000)
afterAll(() => stack?.close())

const preview = async (id: number) => (await stack.admin.get<CreditPreview>(`/api/servers/outages/${id}/credit/`)).data
const credit = (id: number, outage: number) =>
  command(stack.ctx, SYSTEM, unit => creditOrder(unit, id, { id: 1, input: { outage_id: outage } }))
const end = async (id: number) => (await stack.order(id)).expiredAt?.getTime() ?? 0
const ago = (hours: number, at = stack.ctx.now()) => new Date(at.getTime() - hours * HOUR)
/** An outage of a server, in hours before an instant. */
const outage = async (serverId: number, from: number, to: number, at = stack.ctx.now()) => {
  const values = { serverId, startedAt: ago(from, at), endedAt: ago(to, at), byHand: true }
  const made = await addRow(stack.ctx, serverOutages, values)
  return made.id
}
const expireIn = (id: number, expiredAt: Date) =>
  stack.ctx.db.update(orders).set({ expiredAt }).where(eq(orders.id, id))

test('an order whose term ended within an outage is revived in its grace for the time it lost, once', async () => {
  const { ctx } = stack
  const id = await stack.delivered(8)
  const addresses = await stack.live(id)
  stack.pass(20 * DAY)
  await expireIn(id, ago(2))
  await expireOrders(ctx)
  await stack.settle()
  const away = await outage(stack.first.id, 5, 1)
  const both = await outage(stack.first.id, 4, 0.5)
  expect(await stack.order(id)).toMatchObject({ state: 'expired' })
  expect(await preview(away)).toMatchObject({ orders: 1, customers: 1, revived: 1, ended: 0 })
  const lost = async () => {
    const found = await lostTimeOf(ctx.db, { id, now: ctx.now() })
    return found.ok
      ? found.data.map(({ outage_id, server, seconds }) => [outage_id, server.id, Math.round(seconds / 60)])
      : found
  }
  // From before its addresses worked: they cost it nothing, and do not fill the limit.
  for (let hours = 0; hours < 25; hours += 1) await outage(stack.first.id, 22 * 24 + hours + 0.5, 22 * 24 + hours)
  expect(await lost()).toEqual([
    [both, stack.first.id, 120],
    [away, stack.first.id, 180]
  ])

  await Promise.all([credit(id, away), credit(id, away)])
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', graceUntil: null, failCode: null })
  expect(await stack.live(id)).toEqual(addresses)
  const left = (await end(id)) - ctx.now().getTime()
  // It lost the three hours until its end.
  expect(left).toBeGreaterThan(3 * HOUR - MINUTE)
  expect(left).toBeLessThanOrEqual(3 * HOUR)
  // The other outage covers the same time, and between its end and its revival it lost nothing.
  expect(await credit(id, both)).toMatchObject({ ok: false, reason: 'nothing_to_credit' })
  // The other one shows no lost time either.
  expect(await lost()).toEqual([])
  expect(await stack.mails('outage-credited')).toHaveLength(1)
  expect(await wrongNow(ctx.db)).toEqual([])
  await expireIn(id, ago(1))
  await expireOrders(ctx)
  stack.pass(25 * HOUR)
  await endGraces(ctx)
  await stack.settle()
}, 60_000)

test('an order past its grace is listed with the time it lost, and can be reopened for that', async () => {
  const { ctx } = stack
  await ctx.db.delete(serverOutages)
  const id = await stack.delivered(8)
  stack.pass(10 * DAY)
  const ends = ago(30)
  await expireIn(id, ends)
  await expireOrders(ctx)
  stack.pass(25 * HOUR)
  await endGraces(ctx)
  await stack.settle()
  expect(await stack.stock()).toBe(16)
  const away = await outage(stack.first.id, 5, -5, ends)
  const row = { id, email: 'buyer1@example.com', seconds: 5 * 3600 }
  const counts = { orders: 0, revived: 0, ended: 1 }
  expect(await preview(away)).toMatchObject({ ...counts, ended_meanwhile: [{ ...row, credited: false }] })
  const run = await stack.admin.post<BulkRun>(`/api/servers/outages/${away}/credit/`, {})
  // The run's outage stays until the run has ended.
  expect(await stack.admin.delete(`/api/servers/outages/${away}/`)).toMatchObject({
    status: 409,
    data: { reason: 'outage_being_credited', params: { run: run.data.id } }
  })
  await stack.finish(run.data)
  expect(await stack.order(id)).toMatchObject({ state: 'expired' })
  expect(await preview(away)).toMatchObject({ ...counts, credited: 1, ended_meanwhile: [{ ...row, credited: true }] })

  expect((await reopen(ctx, SYSTEM, id, deliveryRefusal)).ok).toBe(true)
  await stack.settle()
  const left = (await end(id)) - ctx.now().getTime()
  expect(left).toBeGreaterThan(5 * HOUR - MINUTE)
  expect(left).toBeLessThanOrEqual(5 * HOUR)
  expect(await preview(away)).toMatchObject({ ended: 0, ended_meanwhile: [] })
  await expireIn(id, ago(1))
  await expireOrders(ctx)
  stack.pass(25 * HOUR)
  await endGraces(ctx)
  await stack.settle()
}, 60_000)

test('outages of servers that an order was on one after the other are credited alike in any sequence', async () => {
  const { ctx, first } = stack
  const second = await stack.addNamed('127.67.1.0/28')
  await stack.health()
  for (const isFirst of [true, false]) {
    await ctx.db.delete(serverOutages)
    const id = await stack.delivered(8)
    const on = (await stack.live(id))[first.id] ? first.id : second.id
    const to = on === first.id ? second.id : first.id
    stack.pass(9 * HOUR)
    expect((await moveOrder(ctx, SYSTEM, id, { from_server_id: on, server_id: to })).ok).toBe(true)
    await stack.settle()
    expect(await stack.live(id)).toEqual({ [to]: 8 })
    stack.pass(HOUR)
    const outages = [await outage(on, 9, 0), await outage(to, 9, 0)]
    const before = await end(id)
    for (const one of isFirst ? outages : outages.toReversed()) await credit(id, one)
    const gained = (await end(id)) - before
    expect(gained).toBeGreaterThan(9 * HOUR - MINUTE)
    expect(gained).toBeLessThanOrEqual(9 * HOUR)
  }
}, 60_000)

test('an outage after the end of a term is credited to no order, even if the job that ends it came late', async () => {
  const { ctx } = stack
  await ctx.db.delete(outageCredits)
  await ctx.db.delete(serverOutages)
  const id = await stack.delivered(8)
  stack.pass(10 * DAY)
  const ends = ago(1)
  await expireIn(id, ends)
  // No worker for ten hours.
  stack.pass(9 * HOUR)
  await expireOrders(ctx)
  stack.pass(25 * HOUR)
  await endGraces(ctx)
  await stack.settle()
  const before = await outage(stack.first.id, 3, 2, ends)
  const across = await outage(stack.first.id, 1, -8, ends)
  for (const one of [before, across]) expect((await credit(id, one)).ok).toBe(true)
  const credits = await ctx.db.select().from(outageCredits).where(eq(outageCredits.orderId, id))
  expect(credits.map(({ seconds }) => seconds)).toEqual([3600, 3600])
  // It was over at its end. From then on it has the two hours that it lost.
  expect(await stack.order(id)).toMatchObject({ endedAt: ends, expiredAt: new Date(ends.getTime() + 2 * HOUR) })
}, 60_000)

test('no credit pays for the time between an end and a revival, even if the history of that was removed', async () => {
  const { ctx } = stack
  await ctx.db.delete(outageCredits)
  await ctx.db.delete(serverOutages)
  const id = await stack.delivered(8)
  stack.pass(10 * DAY)
  const ends = ctx.now()
  await expireIn(id, ends)
  await expireOrders(ctx)
  await stack.settle()
  stack.pass(20 * HOUR)
  const payment = { amount: '20.00', platformOrderNumber: '#1', days: 400 }
  await command(ctx, SYSTEM, async unit => {
    const order = await lockOrder(unit, id)
    if (!order) throw new Error('no order')
    await renewOrder(unit, order, payment)
    await reviveDelivery(unit, order)
  })
  await stack.settle()
  stack.pass(200 * DAY)
  const [history] = orderRetention
  const removed = await command(ctx, SYSTEM, unit => history?.remove(unit, ago(90 * 24), 1000) ?? Promise.resolve(0))
  expect(removed).toBeGreaterThan(0)
  expect(await preview(await outage(stack.first.id, 0, -20, ends))).toMatchObject({ orders: 0 })
}, 60_000)
