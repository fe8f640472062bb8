import { sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventHandlers } from '../../event-handlers.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { paidEvent, place } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { users } from '../accounts/tables.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { storeEvent } from '../commerce/index.ts'
import { compareFigures } from '../statements/books-check.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

let stack: TestStack
let buyer: TestClient

beforeAll(async () => {
  stack = await startTestStack({ range: '127.31.0.0/22', ruleCount: 1 })
  // The shop serves only calls. The test handles the events, one after another or at once.
  const shop = await stack.startShop('serve')
  buyer = await stack.customer(shop.url, 'buyer1')
  await stack.customer(shop.url, 'friend1')
  await stack.ctx.db
    .update(users)
    .set({ invitedBy: sql`(select id from users where username = 'friend1')` })
    .where(sql`username = 'buyer1'`)
}, 120_000)
afterAll(() => stack?.close())

type Payment = { kind: 'purchase' | 'renewal'; id: number; event: object }
type Told = { topic: string; payload: object }

let ids = 5_000_000

/** Reports about two payments and two renewals of one order, in any order, with repeats. */
const reports = fc.array(
  fc.record({
    payment: fc.nat(3),
    what: fc.constantFrom('paid', 'paid', 'paid', 'refund', 'part', 'cancel', 'dispute', 'again'),
    at: fc.nat(20)
  }),
  { minLength: 3, maxLength: 10 }
)

async function tell({ topic, payload }: Told): Promise<void> {
  ids += 1
  const eventId = `history-${ids}`
  await command(stack.ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(stack.ctx, eventHandlers, eventId)
}

function toldOf(what: string, { id, event }: Payment): Told {
  ids += 1
  const money = (amount: string) => [{ kind: 'refund', status: 'success', amount }]
  if (what === 'refund')
    return { topic: 'refunds/create', payload: { id: ids, order_id: id, transactions: money('20.00') } }
  if (what === 'part')
    return { topic: 'refunds/create', payload: { id: ids, order_id: id, transactions: money('4.00') } }
  if (what === 'cancel')
    return { topic: 'orders/cancelled', payload: { id, name: `#${id}`, financial_status: 'refunded' } }
  if (what === 'dispute') {
    const dispute = { type: 'chargeback', status: 'lost', amount: '20.00', currency: 'USD' }
    return { topic: 'disputes/create', payload: { id: ids, order_id: id, ...dispute } }
  }
  return { topic: 'orders/paid', payload: event }
}

async function rowOf<T extends Record<string, unknown>>(query: ReturnType<typeof sql>): Promise<T> {
  const { rows } = await stack.ctx.db.execute<T>(query)
  if (!rows[0]) throw new Error('no row')
  return rows[0] as T
}

/** Invariants of an order after any reports. */
async function expectSound(publicId: string, told: Told[]): Promise<void> {
  const row = await rowOf<{ state: string; served: number; wanted: number; accepted: number; purchases: number }>(sql`
    select o.state,
      (select count(*)::int from proxies p where p.order_id = o.id and p.state <> 'retired') as served,
      (select count(*)::int from agent_users u where u.order_id = o.id and u.wanted) as wanted,
      (select count(*)::int from payments p where p.order_id = o.id and p.accepted) as accepted,
      (select count(*)::int from payments p where p.order_id = o.id and p.accepted and p.kind = 'purchase') as purchases
    from orders o where o.order_id = ${publicId}`)
  expect(row.purchases).toBeLessThanOrEqual(1)
  if (row.state === 'refunded') expect(row).toMatchObject({ served: 0, wanted: 0 })
  if (row.state === 'placed') expect(row.accepted).toBe(0)

  // A payment that the platform fully refunded is refunded here, in any order of reports.
  const { rows } = await stack.ctx.db.execute<{ id: string; refunded: string; all: boolean; amount: string }>(sql`
    select p.platform_order_id as id, p.refunded_amount as refunded, p.refunded_at is not null as all, p.amount
    from payments p join orders o on o.id = p.order_id where o.order_id = ${publicId}`)
  for (const payment of rows) {
    const of = told.filter(
      ({ payload }) => String('order_id' in payload ? payload.order_id : (payload as { id: number }).id) === payment.id
    )
    const whole = of.some(({ topic }) => topic === 'orders/cancelled' || topic === 'disputes/create')
    const parts = of
      .filter(({ topic }) => topic === 'refunds/create')
      .map(({ payload }) => [
        (payload as { id: number }).id,
        (payload as { transactions: { amount: string }[] }).transactions[0]?.amount
      ])
    const sum = [...new Map(parts as [number, string][]).values()].reduce((total, amount) => total + Number(amount), 0)
    expect(payment.all).toBe(whole || sum >= 20)
    expect(Number(payment.refunded)).toBe(whole ? 20 : Math.min(20, sum))
  }
  expect(await compareFigures(stack.ctx.db)).toEqual([])
}

/** Points and coins match their records: what the kept parts of payments that count earned. */
async function expectPoints(): Promise<void> {
  const { rows } = await stack.ctx.db.execute<Record<string, number>>(sql`
    select u.username, u.coins::int, u.level_points::int as level,
      coalesce((select sum(point) from point_records r where r.user_id = u.id and r.kind = 'coins'), 0)::int as coin_records,
      coalesce((select sum(point) from point_records r where r.user_id = u.id and r.kind = 'level'), 0)::int as level_records
    from users u where username in ('buyer1', 'friend1') order by username`)
  for (const row of rows) expect([row['coins'], row['level']]).toEqual([row['coin_records'], row['level_records']])
  const { standing, level, coins } = await rowOf<{ standing: number; level: number; coins: number }>(sql`
    select count(*)::int as standing,
      coalesce(sum(floor(amount - refunded_amount)), 0)::int as level,
      coalesce(floor(sum((amount - refunded_amount) * 0.05)), 0)::int as coins
    from payments where accepted and refunded_at is null`)
  expect(rows.map(row => [row['username'], row['level'], row['coins']])).toEqual([
    ['buyer1', level, 0],
    ['friend1', standing > 0 ? 10 : 0, coins]
  ])
}

test('after any reports of payments and refunds, in any order and with repeats, the books agree', async () => {
  const [rule = 0] = stack.rules
  await fc.assert(
    fc.asyncProperty(reports, fc.boolean(), async (plan, atOnce) => {
      const { order_id: publicId } = (await place(stack, buyer, 8, [rule])).data
      const payments = (['purchase', 'purchase', 'renewal', 'renewal'] as const).map((kind): Payment => {
        const event = paidEvent({ publicId, amount: '20.00', renewal: kind === 'renewal' })
        return { kind, id: event.id, event }
      })
      const told: Told[] = []
      for (const { payment, what, at } of plan) {
        const about = payments[payment]
        if (!about) continue
        const next = what === 'again' ? told[at % Math.max(1, told.length)] : toldOf(what, about)
        if (!next) continue
        told.push(next)
        if (!atOnce) await tell(next)
      }
      if (atOnce) await Promise.all(told.map(tell))
      await expectSound(publicId, told)
      await expectPoints()
    }),
    runs(20, 1000)
  )
}, 240_000)
