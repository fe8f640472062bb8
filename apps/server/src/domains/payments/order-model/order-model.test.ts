import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../../infra/clock.ts'
import { writeSettings } from '../../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../order-shop.fixture.ts'
import { anyStep, makeSteps } from './any-step.fixture.ts'
import { emptyBooks, RATES } from './books.fixture.ts'
import { endRun } from './end.fixture.ts'
import type { Model, Real, Step } from './model.fixture.ts'

/** Three servers: an order of more than one holds is delivered in parts, and what loses one has others. */
const RANGES = ['127.92.0.0/26', '127.92.1.0/26', '127.92.2.0/26']
/** `ORDER_MODEL_RUNS=300` looks longer. */
const RUNS = Number(process.env['ORDER_MODEL_RUNS'] ?? 12)

let world: OrderShop
let admin: Buyer
let now = Date.now()

beforeAll(async () => {
  world = await startOrderShop({ ranges: RANGES, now: () => new Date(now) })
  admin = await world.admin('boss')
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 1000, max_unpaid_addresses: 1_000_000, ...RATES })
}, 60_000)
afterAll(() => world?.close())

let people = 0

/** Everything in stock, all servers there, some days after whatever was before, and people who have nothing yet. */
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

function end({ real }: { real: Real }): void {
  world.forget(real.buyer)
  world.forget(real.inviter)
}

test('whatever happens to orders in whatever sequence, they, the stock and the money are as they should be', async () => {
  const history = fc.commands([anyStep], { maxCommands: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(history, fc.constantFrom(0, 6), async (commands, quarantineHours) => {
      const begun = await begin(quarantineHours)
      await fc.asyncModelRun(() => begun, commands)
      await endRun(begun.model, begun.real)
      end(begun)
    }),
    { numRuns: RUNS }
  )
}, 3_600_000)

/** Goes a way that is written down. @returns the states of its first order, each once */
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
    wait(60 * DAY),
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
