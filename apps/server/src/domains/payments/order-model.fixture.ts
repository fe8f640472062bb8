import type { OrderState } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { deliveryPorts } from '../../workers.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { runTask } from '../delivery/tasks.ts'
import { audit } from '../inventory/index.ts'
import { timeOutOrders } from '../orders/index.ts'
import type { Buyer, OrderShop } from './order-shop.fixture.ts'

/**
 * What an order should be, in the few terms that matter to its customer and to the stock. Times are milliseconds. A new
 * way of an order (a refund, a rescue) is a new step below; what always holds is in `expectAll`.
 */
export type ModelOrder = {
  id: number
  publicId: string
  amount: string
  rule: number
  quantity: number
  state: OrderState
  paid: boolean
  /** Whether its addresses are kept from others. */
  holds: boolean
  reservedUntil: number
  expiredAt: number | null
  graceUntil: number | null
  extraTerms: number
  /** Servers that still have to serve it, and those that still have to let go of it. */
  pending: Set<number>
  stopping: Set<number>
}

export type Model = { now: number; all: number; orders: ModelOrder[] }
export type Real = { world: OrderShop; buyer: Buyer; admin: Buyer; setNow: (now: number) => void }
type Step = fc.AsyncCommand<Model, Real>

const TERM = 30 * DAY
const GRACE = 24 * HOUR
const RESERVED = 30 * MINUTE

const SERVED: OrderState[] = ['delivering', 'partly_delivered', 'delivered']

const heldBy = (model: Model, rule: number): number =>
  model.orders.filter(order => order.rule === rule && order.holds).reduce((sum, { quantity }) => sum + quantity, 0)
const freeFor = (model: Model, rule: number): number => model.all - heldBy(model, rule)

/** Its addresses go back once no agent serves it and no grace holds them. */
function letGo(order: ModelOrder): void {
  if (order.state === 'expired' && order.graceUntil === null && order.stopping.size === 0) order.holds = false
}

/** Where the shop placed the addresses is its own choice: the model takes the servers over. */
async function startServing({ world }: Real, order: ModelOrder): Promise<void> {
  const { rows } = await world.shop.ctx.db.execute<{ server: number }>(
    sql`select distinct server_id as server from agent_users where order_id = ${order.id} and wanted`
  )
  order.state = 'delivering'
  order.holds = true
  order.pending = new Set(rows.map(({ server }) => server))
  order.stopping = new Set()
}

const step = (
  name: string,
  run: (model: Model, real: Real) => Promise<void>,
  check: (model: Model) => boolean = () => true
): Step => ({
  toString: () => name,
  check,
  async run(model, real) {
    await run(model, real)
    await expectAll(model, real)
  }
})

/** A step on one of the orders that there are. */
const onOrder = (
  name: string,
  nth: number,
  run: (order: ModelOrder, model: Model, real: Real) => Promise<void>
): Step =>
  step(
    `${name}(${nth})`,
    (model, real) => run(model.orders[nth % model.orders.length] as ModelOrder, model, real),
    model => model.orders.length > 0
  )

const place = (rule: number, blocks: number): Step =>
  step(`place(${rule}, ${blocks})`, async (model, { world, buyer }) => {
    if (model.orders.length === ORDERS) return
    const quantity = blocks * 8
    const asked = await buyer.post<{ id: number; order_id: string }>(
      '/api/orders/checkout',
      world.wanted(quantity, world.rules.slice(rule, rule + 1))
    )
    if (quantity > freeFor(model, rule)) return expect(asked.data).toMatchObject({ reason: 'out_of_stock' })
    expect(asked.code).toBe(2000)
    const { amount } = await world.row(asked.data.id)
    model.orders.push({
      id: asked.data.id,
      publicId: asked.data.order_id,
      amount,
      rule,
      quantity,
      state: 'placed',
      paid: false,
      holds: true,
      reservedUntil: model.now + RESERVED,
      expiredAt: null,
      graceUntil: null,
      extraTerms: 0,
      pending: new Set(),
      stopping: new Set()
    })
  })

const cancel = (nth: number): Step =>
  onOrder('cancel', nth, async (order, _model, { buyer }) => {
    const asked = await buyer.post(`/api/orders/order_list/${order.id}/cancel/`)
    if (order.state !== 'placed' && order.state !== 'cancelled') {
      return expect(asked.data).toMatchObject({ reason: 'order_not_unpaid' })
    }
    expect(asked.code).toBe(2000)
    Object.assign(order, { state: 'cancelled', holds: false })
  })

/** In time, late, after a cancellation, or once more. */
const pay = (nth: number): Step =>
  onOrder('pay', nth, async (order, model, real) => {
    const { outcome } = await real.world.pay(order)
    // What leads to no delivery has an outcome that an operator sees.
    if (order.paid) return expect(outcome).toBe('paid_twice')
    order.paid = true
    if (order.holds || order.quantity <= freeFor(model, order.rule)) {
      expect(outcome).toBe('settled')
      return startServing(real, order)
    }
    expect(outcome).toBe('too_late')
    order.state = 'failed'
  })

/** In time, in its grace, too late, or before anything was delivered. */
const renew = (nth: number): Step =>
  onOrder('renew', nth, async (order, model, real) => {
    const { outcome } = await real.world.pay(order, { renewal: true })
    const inGrace = order.state === 'expired' && order.graceUntil !== null && order.graceUntil > model.now
    if (!SERVED.includes(order.state) && !inGrace) return expect(outcome).toBe('renewal_too_late')
    expect(outcome).toBe('settled')
    if (order.expiredAt === null) order.extraTerms += 1
    else order.expiredAt += TERM
    if (!inGrace) return
    order.graceUntil = null
    await startServing(real, order)
  })

/** The agent of a server does what is wanted of it. */
const confirm = (server: number): Step =>
  step(`confirm(${server})`, async (model, { world }) => {
    const serverId = world.serverIds[server % world.serverIds.length] ?? 0
    await world.confirm([serverId])
    for (const order of model.orders) {
      if (order.stopping.delete(serverId)) letGo(order)
      if (!order.pending.delete(serverId)) continue
      order.state = order.pending.size > 0 ? 'partly_delivered' : 'delivered'
      if (order.pending.size > 0 || order.expiredAt !== null) continue
      order.expiredAt = model.now + TERM * (1 + order.extraTerms)
    }
  })

/** An administrator has a failed order delivered after all. */
const deliver = (nth: number): Step =>
  onOrder('deliver', nth, async (order, model, real) => {
    if (order.state !== 'failed') return
    const asked = await real.admin.post<{ task_id: string }>(`/api/orders/order_list/${order.id}/devery_order/`)
    expect(asked.code).toBe(2000)
    await runTask(real.world.shop.ctx, deliveryPorts, { orderId: order.id, taskId: asked.data.task_id })
    if (order.quantity <= freeFor(model, order.rule)) await startServing(real, order)
  })

const wait = (milliseconds: number): Step =>
  step(`wait(${milliseconds / HOUR} h)`, (model, real) => moveTo(model.now + milliseconds, model, real))

/** To just after the next moment at which something ends: random waits would seldom meet a grace. */
const waitForNext = (): Step =>
  step('waitForNext', async (model, real) => {
    const ends = model.orders.flatMap(({ state, reservedUntil, expiredAt, graceUntil }) => [
      ...(state === 'placed' ? [reservedUntil] : []),
      ...(SERVED.includes(state) && expiredAt !== null ? [expiredAt] : []),
      ...(graceUntil === null ? [] : [graceUntil])
    ])
    const next = Math.min(...ends.filter(end => end > model.now))
    if (Number.isFinite(next)) await moveTo(next + 1, model, real)
  })

async function moveTo(now: number, model: Model, { setNow, world }: Real): Promise<void> {
  model.now = now
  setNow(now)
  await world.advance(0)
}

const timeOut = (): Step =>
  step('timeOut', async (model, { world }) => {
    await timeOutOrders(world.shop.ctx)
    for (const order of model.orders) {
      if (order.state === 'placed' && order.reservedUntil <= model.now)
        Object.assign(order, { state: 'timed_out', holds: false })
    }
  })

const expire = (): Step =>
  step('expire', async (model, { world }) => {
    await expireOrders(world.shop.ctx)
    for (const order of model.orders) {
      if (!SERVED.includes(order.state) || order.expiredAt === null || order.expiredAt > model.now) continue
      const { rows } = await world.shop.ctx.db.execute<{ server: number }>(
        sql`select server_id as server from agent_users where order_id = ${order.id}`
      )
      Object.assign(order, { state: 'expired', graceUntil: model.now + GRACE })
      order.stopping = new Set(rows.map(({ server }) => server))
    }
  })

const endGrace = (): Step =>
  step('endGrace', async (model, { world }) => {
    await endGraces(world.shop.ctx)
    for (const order of model.orders) {
      if (order.graceUntil === null || order.graceUntil > model.now) continue
      order.graceUntil = null
      letGo(order)
    }
  })

/** Each kind of step by its name, for a way that a test writes down. */
export const makeSteps = { place, cancel, pay, renew, confirm, deliver, wait, timeOut, expire, endGrace }

/** Few orders, so that each gets far. */
const ORDERS = 4
const nth = fc.nat({ max: ORDERS - 1 })
const either = fc.nat({ max: 1 })

/** What can happen, with how often it does. Add a way of an order here. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.tuple(either, fc.integer({ min: 1, max: 10 })).map(([rule, blocks]) => place(rule, blocks))
  },
  { weight: 1, arbitrary: nth.map(cancel) },
  { weight: 4, arbitrary: nth.map(pay) },
  { weight: 4, arbitrary: nth.map(renew) },
  { weight: 1, arbitrary: nth.map(deliver) },
  { weight: 6, arbitrary: either.map(confirm) },
  { weight: 2, arbitrary: fc.constantFrom(10 * MINUTE, 31 * MINUTE, 12 * HOUR, 25 * HOUR, 15 * DAY).map(wait) },
  { weight: 4, arbitrary: fc.constant(null).map(waitForNext) },
  { weight: 1, arbitrary: fc.constant(null).map(timeOut) },
  { weight: 3, arbitrary: fc.constant(null).map(expire) },
  { weight: 2, arbitrary: fc.constant(null).map(endGrace) }
)

/** What holds after every step, whatever the steps were. */
export async function expectAll(model: Model, { world }: Real): Promise<void> {
  const { db } = world.shop.ctx
  // No address is leased twice under one rule, and what is held is what the orders hold.
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  for (const [rule, id] of world.rules.entries()) expect(await world.stock([id])).toBe(freeFor(model, rule))
  for (const order of model.orders) {
    const row = await world.row(order.id)
    expect({
      state: row.state,
      expiredAt: row.expiredAt?.getTime() ?? null,
      graceUntil: row.graceUntil?.getTime() ?? null,
      paid: row.paidAt !== null
    }).toEqual({ state: order.state, expiredAt: order.expiredAt, graceUntil: order.graceUntil, paid: order.paid })
    // It is served if, and only if, its state says so.
    const served = SERVED.includes(order.state)
    const { rows } = await db.execute<{ users: number; live: number }>(sql`select
      (select count(*) from agent_users where order_id = ${order.id} and wanted) as users,
      (select count(*) from proxies where order_id = ${order.id} and state = 'live') as live`)
    const { users, live } = rows[0] ?? { users: 0, live: 0 }
    expect(users > 0).toBe(served)
    if (order.state === 'delivered') expect([live, row.deliveryNum]).toEqual([order.quantity, order.quantity])
    if (order.state === 'partly_delivered') expect(live > 0 && live < order.quantity).toBe(true)
    if (!served) expect(live).toBe(0)
    // Money that is not followed by a delivery shows as such.
    if (order.paid && !served && order.state !== 'expired')
      expect([row.state, row.failCode]).toEqual(['failed', 'out_of_stock'])
  }
}
