import { eq, sql } from '../../infra/db/drizzle.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventHandlers } from '../../event-handlers.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { paidEvent } from '../../testing/buying.ts'
import { users } from '../accounts/tables.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { storeEvent } from '../commerce/index.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { createGiftCard } from '../rewards/index.ts'
import { writeSettings } from '../settings/index.ts'
import { compareFigures } from '../statements/books-check.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'
import { newKey } from '../../testing/asking-once.ts'

let world: OrderShop
let admin: Buyer

beforeAll(async () => {
  world = await startOrderShop()
  admin = await world.admin('boss')
  await writeSettings(world.shop.ctx, { invite_rebate_rate: 0.97 })
}, 60_000)
afterAll(() => world?.close())

let serial = 0

async function tell(topic: keyof typeof eventHandlers, payload: unknown): Promise<void> {
  const eventId = `${topic} model-${++serial}`
  const { ctx } = world.shop
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(ctx, eventHandlers, eventId)
}

/** What can happen to an order's nth payment, any number of times. */
type Money =
  | 'short'
  | 'paid'
  | 'part'
  | 'rest'
  | 'cancel'
  | 'open 1'
  | 'won 1'
  | 'open 2'
  | 'won 2'
  | 'part of 3'
  | 'won 3'
type Around = 'confirm' | 'spend' | 'a week' | 'a month' | 'reopen' | 'apply' | 'by hand'
type Step = { money: Money; nth: number } | { around: Around }

const often: Money[] = ['paid', 'open 1', 'won 1', 'open 2', 'won 2', 'part of 3', 'won 3']
const seldom: Money[] = ['short', 'part', 'rest', 'cancel']
const either: Around[] = ['confirm', 'spend', 'a week', 'a month', 'reopen', 'apply', 'by hand']
const nth = fc.constantFrom(0, 0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ money: fc.constantFrom(...often), nth }) },
  { weight: 1, arbitrary: fc.record({ money: fc.constantFrom(...seldom), nth }) },
  { weight: 2, arbitrary: fc.record({ around: fc.constantFrom(...either) }) }
)

/** The dispute that is won last took nothing, because another had taken all. */
const allWon: Step[] = (['open 1', 'part of 3', 'won 1', 'won 3'] as const).map(money => ({ money, nth: 0 }))

async function start() {
  const { ctx } = world.shop
  serial += 1
  const buyer = await world.customer(`buyer${serial}`)
  const inviter = await world.customer(`guide${serial}`)
  await ctx.db.update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, buyer.user.id))
  const order = await world.place(buyer)
  // A purchase and a renewal.
  const ids = [0, 1].map(() => 600_000 + ++serial)
  const event = (nth: number, lines: Record<string, number>) =>
    paidEvent({ publicId: order.publicId, amount: '20.00', renewal: nth > 0, lines, id: ids[nth] ?? 0 })
  const dispute = (nth: number, which: number, status: string, amount: string) =>
    tell('disputes/update', {
      id: Number(`${ids[nth]}${which}`),
      order_id: ids[nth],
      type: 'chargeback',
      status,
      amount,
      currency: 'USD'
    })
  const refund = (nth: number, which: number, amount: string) =>
    tell('refunds/create', {
      id: Number(`${ids[nth]}${which}`),
      order_id: ids[nth],
      transactions: [{ kind: 'refund', status: 'success', amount }]
    })
  const money: Record<Money, (nth: number) => Promise<void>> = {
    short: nth => tell('orders/paid', event(nth, { '11': 8 })),
    paid: nth => tell('orders/paid', event(nth, { '11': 8, '901': 8 })),
    part: nth => refund(nth, 1, '5.00'),
    rest: nth => refund(nth, 2, '15.00'),
    cancel: nth => tell('orders/cancelled', { id: ids[nth], name: '#1', financial_status: 'refunded' }),
    'open 1': nth => dispute(nth, 3, 'needs_response', '20.00'),
    'won 1': nth => dispute(nth, 3, 'won', '20.00'),
    'open 2': nth => dispute(nth, 4, 'under_review', '20.00'),
    'won 2': nth => dispute(nth, 4, 'won', '20.00'),
    'part of 3': nth => dispute(nth, 5, 'needs_response', '6.00'),
    'won 3': nth => dispute(nth, 5, 'won', '6.00')
  }
  const resolve = async (action: string, body: object) => {
    const { rows } = await ctx.db.execute<{ id: number }>(sql`select id from platform_events
      where needs_hand and resolution is null and platform_order_id in (${sql.join(ids.map(String), sql`, `)}) order by id limit 1`)
    if (rows[0]) await admin.post(`/api/payments/inbox/${rows[0].id}/${action}/`, body)
  }
  const around: Record<Around, () => Promise<unknown>> = {
    confirm: () => world.confirm(),
    async spend() {
      const mount = `${++serial}.00`
      await createGiftCard(ctx, SYSTEM, { mount, code: `card${serial}`, point: 15 })
      await inviter.post('/api/rewards/gift_card/exchange/', { mount, point: 15 }, newKey())
    },
    'a week': () => pass(8 * DAY),
    'a month': () => pass(31 * DAY),
    reopen: () => admin.post(`/api/orders/order_list/${order.id}/reopen/`, {}),
    apply: () => resolve('apply', { order: order.publicId }),
    'by hand': () => resolve('refunded', { note: 'by hand' })
  }
  return { order, buyer, inviter, money, around }
}

async function pass(milliseconds: number): Promise<void> {
  await world.advance(milliseconds)
  await expireOrders(world.shop.ctx)
  await endGraces(world.shop.ctx)
}

/** After any events in any order, everyone has exactly what the standing payments earned. */
async function expectBooks(run: Awaited<ReturnType<typeof start>>, happened: string): Promise<void> {
  const { db } = world.shop.ctx
  const { rows } = await db.execute(sql`
    with mine as (select * from payments where order_id = ${run.order.id})
    select (select level_points from users where id = ${run.buyer.user.id}) as points,
      (select coins - coins_owed from users where id = ${run.inviter.user.id}) +
        (select coalesce(sum(point), 0) from gift_cards where exchanged_by = ${run.inviter.user.id}) as coins,
      (select level_points from users where id = ${run.inviter.user.id}) > 0 as rewarded,
      (select coalesce(sum(floor(amount - refunded_amount)), 0) from mine where accepted and refunded_at is null) as earned,
      (select coalesce(floor(sum((amount - refunded_amount) * 0.97)), 0) from mine where accepted and refunded_at is null) as invited,
      (select count(*) > 0 from mine where accepted and refunded_at is null) as stands,
      (select refunded_amount from orders where id = ${run.order.id}) =
        (select coalesce(sum(refunded_amount), 0) from mine where accepted)
        or exists (select from mine where not accepted and refunded_amount > 0) as refunds,
      (select state in ('delivering', 'partly_delivered', 'delivered') from orders where id = ${run.order.id}) as served,
      (select count(*) > 0 from mine where kind = 'purchase' and accepted and refunded_at is null) as paid`)
  const is = rows[0]
  expect(
    { points: Number(is?.['points']), coins: Number(is?.['coins']), rewarded: is?.['rewarded'] },
    happened
  ).toEqual({
    points: Number(is?.['earned']),
    coins: Number(is?.['invited']),
    rewarded: is?.['stands']
  })
  expect(is?.['refunds'], happened).toBe(true)
  // An order is served only while its purchase stands.
  if (is?.['served']) expect(is['paid'], happened).toBe(true)
}

test('after any history of payments, refunds and disputes everybody has what the money that stands has earned', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async steps => {
      const run = await start()
      await run.money.paid(0)
      const happened = ['paid (0)']
      for (const one of steps) {
        // No two events share an instant.
        await world.advance(1000)
        if ('money' in one) await run.money[one.money](one.nth)
        else await run.around[one.around]()
        happened.push('money' in one ? `${one.money} (${one.nth})` : one.around)
        await expectBooks(run, happened.join(', '))
      }
      expect(await compareFigures(world.shop.ctx.db)).toEqual([])
      await world.endAll()
    }),
    { ...runs(6, 300), examples: [[allWon]] }
  )
}, 180_000)
