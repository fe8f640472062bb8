import { sql } from '../../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../infra/clock.ts'
import { writeSettings } from '../../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../order-shop.fixture.ts'
import { anyStep, makeSteps } from './any-step.fixture.ts'
import { emptyBooks, RATES } from './books.fixture.ts'
import { endRun } from './end.fixture.ts'
import type { Model, Real, Step } from './model.fixture.ts'
import { runs } from '../../../../../../scripts/testing/tier.ts'

/** Three servers: large orders are delivered in parts, and an order that loses a server gets other addresses. */
const RANGES = ['127.92.0.0/26', '127.92.1.0/26', '127.92.2.0/26']

let world: OrderShop
let admin: Buyer
/** The real time, because addresses rest by the database's clock. */
let now = Date.now()

beforeAll(async () => {
  world = await startOrderShop({ ranges: RANGES, now: () => new Date(now) })
  admin = await world.admin('boss')
  await writeSettings(world.shop.ctx, {
    max_unpaid_orders: 1000,
    max_unpaid_addresses: 1_000_000,
    max_new_customer_addresses: 1_000_000,
    ...RATES
  })
}, 60_000)
afterAll(() => world?.close())

let people = 0

/** Full stock, all servers up, some days after the previous run, and new people. */
async function begin(quarantineHours: number): Promise<{ model: Model; real: Real }> {
  const { db } = world.shop.ctx
  await writeSettings(world.shop.ctx, { quarantine_hours: 0 })
  await db.execute(sql`update servers set status = 'active', offline = false, connected = true, failures = 0,
    unreachable_since = null`)
  await world.endAll()
  now += 3 * DAY
  people += 1
  const buyer = await world.customer(`buyer${people}`)
  const inviter = await world.customer(`giver${people}`)
  await db.execute(sql`update users set invited_by = ${inviter.user.id} where id = ${buyer.user.id}`)
  await world.advance(0)
  await writeSettings(world.shop.ctx, { quarantine_hours: quarantineHours })
  const servers = world.serverIds.map(id => ({ id, status: 'active' as const, silentSince: null, offline: false }))
  return {
    model: { now, orders: [], payments: [], servers, resting: [], books: emptyBooks() },
    real: { world, buyer, inviter, admin, setNow: next => void (now = next) }
  }
}

/** Orders that work from the start, as far as there is room: otherwise few runs would get far. */
async function open(bought: { rule: number; blocks: number }[], { model, real }: { model: Model; real: Real }) {
  for (const { rule, blocks } of bought) {
    await makeSteps.place(rule, blocks).run(model, real)
    if (model.orders.at(-1)?.state === 'placed') await makeSteps.pay(model.orders.length - 1).run(model, real)
  }
  for (const nth of model.servers.keys()) await makeSteps.confirm(nth).run(model, real)
}

function end({ real }: { real: Real }): void {
  world.forget(real.buyer)
  world.forget(real.inviter)
}

test('after any sequence of steps, the orders, the stock and the money are as in the model', async () => {
  const history = fc.commands([anyStep], { maxCommands: 60, size: 'max' })
  const opening = fc.array(fc.record({ rule: fc.nat({ max: 1 }), blocks: fc.integer({ min: 1, max: 20 }) }), {
    maxLength: 3
  })
  await fc.assert(
    fc.asyncProperty(opening, history, fc.constantFrom(0, 6), async (bought, commands, quarantineHours) => {
      const begun = await begin(quarantineHours)
      await open(bought, begun)
      await fc.asyncModelRun(() => begun, commands)
      await endRun(begun.model, begun.real)
      end(begun)
    }),
    // A sequence takes a second, so the first failure is shown as it is.
    // Of the first seeds, this one's runs take the most kinds of steps.
    { ...runs(5, 300, 6), endOnFailure: true }
  )
}, 3_600_000)

/** Runs a written sequence. @returns the states of its first order, without consecutive repeats */
async function go(way: Step[]): Promise<(string | undefined)[]> {
  const begun = await begin(0)
  const states: (string | undefined)[] = []
  for (const one of way) {
    await one.run(begun.model, begun.real)
    states.push(begun.model.orders[0]?.state)
  }
  await endRun(begun.model, begun.real)
  end(begun)
  return states.filter((state, at) => state !== states[at - 1])
}

test('the way of an order that was cancelled, paid, delivered in parts, renewed in its grace and left to end', async () => {
  const { place, cancel, pay, confirm, wait, expire, renew, endGrace } = makeSteps
  const way = [
    place(0, 10),
    cancel(0),
    pay(0),
    confirm(0),
    confirm(1),
    wait(31 * DAY),
    expire(),
    renew(0),
    confirm(1),
    confirm(0),
    wait(32 * DAY),
    expire(),
    confirm(0),
    confirm(1),
    renew(0),
    wait(2 * DAY),
    endGrace(),
    renew(0)
  ]
  expect(await go(way)).toEqual([
    'placed',
    'cancelled',
    'delivering',
    'partly_delivered',
    'delivered',
    'expired',
    'delivering',
    'partly_delivered',
    'delivered',
    'expired',
    'delivering'
  ])
})

test('coins that were spent before their payment was given back are owed, and kept from the next ones', async () => {
  const { place, pay, confirm, wait, spend, refund, renew } = makeSteps
  const way = [
    place(0, 1),
    pay(0),
    confirm(0),
    spend('pendingToo'),
    wait(8 * DAY),
    spend('all'),
    refund(0, 'whole'),
    refund(0, 'whole'),
    place(1, 2),
    pay(1),
    renew(1),
    wait(8 * DAY),
    spend('oneTooMany'),
    spend('all')
  ]
  expect(await go(way)).toEqual(['placed', 'delivering', 'delivered', 'refunded'])
})

test('chargebacks that are won restore terms and books, even if coins were spent in between', async () => {
  const { place, pay, confirm, wait, spend, renew, openChargeback, winChargeback } = makeSteps
  const way = [
    place(0, 1),
    pay(0),
    renew(0),
    confirm(0),
    wait(8 * DAY),
    spend('all'),
    openChargeback(0),
    winChargeback(0),
    winChargeback(0),
    openChargeback(1),
    confirm(0),
    wait(8 * DAY),
    winChargeback(1),
    spend('oneTooMany'),
    spend('all')
  ]
  expect(await go(way)).toEqual(['placed', 'delivering', 'delivered', 'refunded', 'expired'])
})

test('the coin that is left of a refunded renewal when fractions add up is kept, and the next ones are whole', async () => {
  const { place, pay, confirm, renew, loseChargeback } = makeSteps
  const delivered = [place(0, 19), pay(0), confirm(0), confirm(1), confirm(2)]
  const way = [renew(0), renew(0), loseChargeback(0), renew(0), renew(0), loseChargeback(1)]
  expect((await go([...delivered, ...way])).at(-1)).toBe('delivered')
})

test('an order whose server falls silent before it is delivered goes to another, also when that is given up', async () => {
  const { place, pay, silence, wait, rescue, giveUp, confirm, answer, takeBack, renew } = makeSteps
  const way = [
    place(0, 8),
    pay(0),
    silence(0),
    wait(31 * MINUTE),
    rescue(),
    silence(1),
    giveUp(1),
    confirm(2),
    renew(0),
    answer(0),
    confirm(0),
    confirm(2),
    takeBack(1)
  ]
  expect(await go(way)).toEqual(['placed', 'delivering', 'delivered'])
})

test('what is lost with a server and has no room elsewhere is found once there is room', async () => {
  const { place, pay, confirm, giveUp, wait, takeBack, rescue, pause, resume } = makeSteps
  const way = [
    place(0, 16),
    pay(0),
    confirm(0),
    confirm(1),
    pause(2),
    confirm(2),
    giveUp(0),
    rescue(),
    wait(31 * MINUTE),
    resume(2),
    takeBack(0),
    rescue(),
    confirm(0),
    confirm(1),
    confirm(2)
  ]
  const states = await go(way)
  expect(states.at(-1)).toBe('delivered')
})

test('an order that lacks addresses keeps as many as it lacks of those that it was to give back', async () => {
  const { place, pay, confirm, drain, giveUp, rescue, takeBack, pause, resume } = makeSteps
  const opening = [place(0, 9), pay(0), confirm(0), confirm(1)]
  // Addresses are lost during a move and before it.
  const ways = [
    [drain(0), giveUp(1), rescue(), confirm(2), confirm(0), takeBack(1), rescue(), confirm(1), confirm(0)],
    [pause(2), giveUp(1), resume(2), drain(0), confirm(2), confirm(0), takeBack(1), rescue(), confirm(1), confirm(0)]
  ]
  for (const way of ways) expect((await go([...opening, ...way])).at(-1)).toBe('delivered')
})

test('an order that ended while it moved can be renewed with what it was to give back, if there is nothing else', async () => {
  const { place, pay, confirm, drain, wait, expire, giveUp, renew } = makeSteps
  const way = [
    place(0, 8),
    pay(0),
    confirm(0),
    place(0, 8),
    pay(1),
    confirm(1),
    drain(0),
    wait(30 * DAY),
    expire(),
    giveUp(2),
    renew(0),
    confirm(0)
  ]
  expect(await go(way)).toEqual(['placed', 'delivering', 'delivered', 'expired', 'delivering', 'delivered'])
})
