import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { writeSettings } from '../settings/index.ts'
import { anyStep, expectAll, makeSteps, type Model, type Real } from './order-model.fixture.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'

/** Two servers: an order of more than one holds is delivered in parts. */
const RANGES = ['127.92.0.0/26', '127.92.1.0/26']
const ALL = 128

let world: OrderShop
let buyer: Buyer
let admin: Buyer
let now = Date.parse('2026-03-01T12:00:00Z')

beforeAll(async () => {
  world = await startOrderShop({ ranges: RANGES, now: () => new Date(now) })
  buyer = await world.customer('buyer')
  admin = await world.admin('boss')
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 1000, max_unpaid_addresses: 1_000_000 })
}, 60_000)
afterAll(() => world?.close())

test('whatever happens to orders in whatever sequence, they, the stock and the money are as they should be', async () => {
  const setNow = (next: number) => {
    now = next
  }
  const history = fc.commands([anyStep], { maxCommands: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(history, async commands => {
      // Every run begins with the whole stock, some days after the one before.
      await world.endAll()
      setNow(now + 3 * DAY)
      await world.advance(0)
      const real: Real = { world, buyer, admin, setNow }
      const setup = () => ({ model: { now, all: ALL, orders: [] } satisfies Model, real })
      await fc.asyncModelRun(setup, commands)
    }),
    { numRuns: 20 }
  )
  expect(await world.stock()).toBeLessThanOrEqual(ALL)
}, 240_000)

test('the way of an order that was cancelled, paid, delivered in parts, renewed in its grace and left to end', async () => {
  await world.endAll()
  const { place, cancel, pay, confirm, wait, expire, renew, endGrace } = makeSteps
  const model: Model = { now, all: ALL, orders: [] }
  const real: Real = {
    world,
    buyer,
    admin,
    setNow: next => {
      now = next
    }
  }
  const states: (string | undefined)[] = []
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
    wait(60 * DAY),
    expire(),
    confirm(0),
    confirm(1),
    renew(0),
    wait(2 * DAY),
    endGrace(),
    renew(0)
  ]
  for (const one of way) {
    await one.run(model, real)
    states.push(model.orders[0]?.state)
  }
  expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
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
  await expectAll(model, real)
})
