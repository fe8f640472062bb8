import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { hasOpenMoney } from '../inbox/index.ts'
import { ordersPaidBy } from '../payments/index.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { eventually } from '../../testing/test-stack.ts'
import { limitsQueue } from '../servers/queues.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { assignCidrs, reserve } from '../inventory/index.ts'
import {
  beginTask,
  endGrace,
  expireOrder,
  failOrder,
  failTask,
  finishTask,
  lockOrder,
  markDelivered,
  markPaid,
  markPartlyDelivered,
  orderRoutes,
  queueTask,
  recordProgress,
  renewOrder,
  reviveOrder,
  setCredentials,
  startDelivering,
  timeOutOrders,
  type OrderRow
} from './index.ts'
import { orderEvents, orders } from './tables.ts'
import { fromNow } from '../../testing/later.ts'

let shop: TestShop
let groupId = 0

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => orderRoutes(mount, ctx, { ordersPaidBy, hasOpenMoney }),
    queues: [limitsQueue]
  })
  groupId = await addGroup(shop.ctx.db, 'here', [])
})
afterAll(() => shop?.close())

const newOrder = async (): Promise<number> => (await addOrders(shop.ctx.db, groupId, 1))[0] ?? 0

/** Runs `work` on the locked order in its own command. */
const change = (id: number, work: (unit: Unit, order: OrderRow) => Promise<unknown>) =>
  command(shop.ctx, SYSTEM, async unit => {
    const order = await lockOrder(unit, id)
    if (!order) throw new Error('no order')
    await work(unit, order)
  })

const rowOf = async (id: number) => {
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, id))
  if (!row) throw new Error('no order')
  return row
}

/** Counts an order's events for its customer. */
function listen(id: number, userId: number) {
  let heard = 0
  const stop = shop.ctx.changes.subscribe(event => {
    for (const one of event?.changes ?? [])
      if (one.resource === 'order' && one.id === id && one.userId === userId) heard += 1
  })
  return { heard: () => heard, stop }
}

const payment = { days: 30, amount: '1.00', platformOrderId: '5', platformOrderNumber: '#5' }

test('each change of an order is published for its customer', async () => {
  const id = await newOrder()
  const { userId } = await rowOf(id)
  const feed = listen(id, userId)
  const steps: ((unit: Unit, order: OrderRow) => Promise<unknown>)[] = [
    (unit, order) => markPaid(unit, order, { ...payment, platformOrderId: `p${id}` }),
    (unit, order) => failOrder(unit, order, { code: 'out_of_stock' }),
    startDelivering,
    markPartlyDelivered,
    (unit, order) => recordProgress(unit, order, { deliveryNum: 1, failure: null }),
    markDelivered,
    (unit, order) => queueTask(unit, order, 'reset'),
    beginTask,
    (unit, order) => setCredentials(unit, order, 'another'),
    (unit, order) => finishTask(unit, order.id, order.taskId ?? ''),
    (unit, order) => renewOrder(unit, order, payment),
    (unit, order) => expireOrder(unit, order, unit.now),
    reviveOrder,
    markDelivered,
    (unit, order) => expireOrder(unit, order, unit.now),
    endGrace
  ]
  for (const [at, step] of steps.entries()) {
    await change(id, step)
    await eventually(`change ${at} to be published`, async () => feed.heard() === at + 1)
  }
  feed.stop()
  expect(await rowOf(id)).toMatchObject({ state: 'expired', payAmount: '2.00', proxyPassword: 'another', task: null })
})

test('an administrator’s edits and the time-out are published too', async () => {
  const admin = await shop.admin({ username: 'boss' })
  const id = await newOrder()
  const { userId } = await rowOf(id)
  const feed = listen(id, userId)
  await shop.ctx.db
    .update(orders)
    .set({ reservedUntil: fromNow(shop.ctx, -1000) })
    .where(eq(orders.id, id))
  expect(await timeOutOrders(shop.ctx)).toBe(1)
  await eventually('the time-out', async () => feed.heard() === 1)
  const path = `/api/orders/order_list/${id}/`
  const expired_at = fromNow(shop.ctx, DAY).getTime()
  expect((await admin.post(`${path}update_proxy_expired_at/`, { expired_at })).status).toBe(409)
  expect((await admin.delete(path)).code).toBe(2000)
  await eventually('the deletion', async () => feed.heard() === 2)
  feed.stop()
})

test('the end of what is kept for a failed order is published for its customer', async () => {
  const { db } = shop.ctx
  const serverId = await addServer(db, 'with addresses')
  const rule = await addRule(db, 'Rule of the failed')
  await inTransaction(db, assignCidrs, serverId, ['127.88.0.0/30'])
  const group = await addGroup(db, 'there', [serverId])
  const [id = 0] = await addOrders(db, group, 1)
  const leased = await db.transaction(tx =>
    reserve(tx, { orderId: id, groupId: group, step: 1, rules: [rule], quantity: 1 })
  )
  expect(leased.ok).toBe(true)
  await db
    .update(orders)
    .set({ state: 'failed', expiredAt: null, reservedUntil: fromNow(shop.ctx, -1000) })
    .where(eq(orders.id, id))
  const feed = listen(id, (await rowOf(id)).userId)
  await Promise.all([timeOutOrders(shop.ctx), timeOutOrders(shop.ctx)])
  await eventually('the end of the reservation', async () => feed.heard() === 1)
  expect(await db.$count(orderEvents, eq(orderEvents.orderId, id))).toBe(1)
  feed.stop()
})

test('a command that fails leaves the order as it was and publishes nothing', async () => {
  const id = await newOrder()
  const before = await rowOf(id)
  const other = await newOrder()
  const feed = listen(id, before.userId)
  const second = listen(other, (await rowOf(other)).userId)
  const failing = change(id, async (unit, order) => {
    await markPaid(unit, order, { ...payment, platformOrderId: `p${id}` })
    throw new Error('the command fails')
  })
  await expect(failing).rejects.toThrow('the command fails')
  // When a later change has arrived, the failed one would have too.
  await change(other, (unit, order) => markPaid(unit, order, { ...payment, platformOrderId: `p${other}` }))
  await eventually('the later change', async () => second.heard() === 1)
  expect(feed.heard()).toBe(0)
  expect(await rowOf(id)).toEqual(before)
  feed.stop()
  second.stop()
})

test('the history says why a task failed, in the form of a failed delivery', async () => {
  const id = await newOrder()
  await change(id, (unit, order) => queueTask(unit, order, 'change'))
  const failure = { code: 'agent_refused', params: { message: 'no such prefix' } } as const
  await change(id, (unit, order) => failTask(unit, order, failure, { changed: true }))
  const [last] = await shop.ctx.db.select().from(orderEvents).where(eq(orderEvents.kind, 'task_failed'))
  expect(last).toMatchObject({ orderId: id, detail: { code: 'agent_refused', message: 'no such prefix' } })
  expect(last?.detail).not.toHaveProperty('params')
})

test('a task cannot be given while there is one, nor begin twice, nor end for another', async () => {
  const id = await newOrder()
  await change(id, (unit, order) => queueTask(unit, order, 'change'))
  const { taskId } = await rowOf(id)
  await expect(change(id, (unit, order) => queueTask(unit, order, 'reset'))).rejects.toThrow('has a task already')
  await change(id, (unit, order) => finishTask(unit, order.id, 'an earlier task'))
  expect(await rowOf(id)).toMatchObject({ task: 'change', taskId, taskBegunAt: null })
  await change(id, beginTask)
  await expect(change(id, beginTask)).rejects.toThrow('cannot begin')
  await change(id, (unit, order) => failTask(unit, order, { code: 'out_of_stock' }, { changed: false }))
  expect(await rowOf(id)).toMatchObject({ task: null, taskBegunAt: null, taskErrorCode: 'out_of_stock' })
})
