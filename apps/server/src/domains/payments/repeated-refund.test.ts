import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { WHOLE_REPLIES } from './refund-platform.fixture.ts'
import { tell } from './event-row.fixture.ts'
import { platformOrder } from '../reconciliation/platform-orders.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let other: Buyer
beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
  other = await world.admin('boss2')
}, 120_000)
afterAll(() => world?.close())
afterEach(() => void Object.assign(world.refundReplies, WHOLE_REPLIES))

/** A delivered order, and refunds of it. */
async function bought() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  const transactions = [{ kind: 'refund', status: 'success', amount: '5.00' }]
  return {
    paid,
    ask: (amount = '5.00') => askRefund(boss, order, { amount }),
    askAsOther: () => askRefund(other, order, { amount: '5.00' }),
    told: () => tell(world, 'refunds/create', { id: 990_001, order_id: paid.id, transactions })
  }
}

test('a request that is repeated and limited then is still the same one to the platform', async () => {
  const { ask } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  const made = world.refundsMade.length
  await world.advance(11 * MINUTE)
  world.refundReplies.as = 'refused'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  await world.advance(11 * MINUTE)
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made)
})

test('another amount is refused while a request is without an answer, for a day', async () => {
  const { ask } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  await world.advance(11 * MINUTE)
  const params = { by: 'boss1', amount: '5.00' }
  expect(await ask('1.00')).toMatchObject({ status: 409, data: { reason: 'refund_unanswered', params } })
  await world.advance(DAY)
  expect(await ask('1.00')).toMatchObject({ code: 2000 })
})

test.for([
  { name: 'lists no other', listed: [], status: 200 },
  { name: 'lists one that is not known', listed: [{ id: 990_777, amount: '0.00' }], status: 409 },
  { name: 'cannot say', listed: null, status: 409 }
])('another amount follows a request without an answer if the platform $name', async ({ listed, status }) => {
  const { ask, paid } = await bought()
  world.refundReplies.as = 'error'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  world.refundReplies.as = 'whole'
  if (listed) world.platformOrders.known.set(String(paid.id), platformOrder(paid, listed))
  expect(await ask('1.00')).toMatchObject({ status: 409, data: { reason: 'refund_running' } })
  await world.advance(11 * MINUTE)
  const made = world.refundsMade.length
  expect(await ask('1.00')).toMatchObject({
    status,
    ...(status === 200 ? {} : { data: { reason: 'refund_unanswered' } })
  })
  expect(world.refundsMade).toHaveLength(status === 200 ? made + 1 : made)
})

test('another administrator repeats a refund whose answer was cut off', async () => {
  const { ask, askAsOther } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  world.refundReplies.as = 'whole'
  const made = world.refundsMade.length
  await world.advance(11 * MINUTE)
  expect(await askAsOther()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made)
})

test('where the platform does not say how the order was paid, nothing is sent, and another amount can follow at once', async () => {
  const { ask } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.paymentsAreAway = true
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'platform_unavailable' } })
  world.refundReplies.paymentsAreAway = false
  expect(await ask('6.00')).toMatchObject({ code: 2000 })
  expect(world.refundsMade.slice(made)).toMatchObject([{ amount: '6.00' }])
})

test('where the process that asked died before it sent anything, another amount can follow', async () => {
  const { ask } = await bought()
  world.refundReplies.paymentsAreAway = true
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.paymentsAreAway = false
  await world.shop.ctx.db.execute(
    sql`update payment_refunds set state = 'asked' where id = (select max(id) from payment_refunds)`
  )
  await world.advance(11 * MINUTE)
  expect(await ask('6.00')).toMatchObject({ code: 2000 })
})

test('a request that ended before its refund was sent is not sent', async () => {
  const { ask, told } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.beforePayments = async () => {
    await world.advance(2 * MINUTE)
    await told()
  }
  expect(await ask()).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect(world.refundsMade).toHaveLength(made)
})

test('a refund that failed inside the platform is made under a new key, once, by two administrators at once', async () => {
  const { ask, askAsOther } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.as = 'fails_inside'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  world.refundReplies.as = 'whole'
  await world.advance(11 * MINUTE)
  const answers = await Promise.all([ask(), askAsOther()])
  expect(answers.map(({ code }) => code).filter(code => code === 2000)).toHaveLength(1)
  expect(world.refundsMade.slice(made)).toMatchObject([{ amount: '5.00' }])
})

test('a platform that calls every key a failed one is asked twice, and keeps nothing else from being asked for', async () => {
  const { ask } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  await world.advance(11 * MINUTE)
  world.refundReplies.as = 'keys_fail'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'platform_unavailable' } })
  world.refundReplies.as = 'whole'
  expect(await ask('6.00')).toMatchObject({ code: 2000 })
  expect(world.refundsMade.slice(made + 1)).toMatchObject([{ amount: '6.00' }])
})

test('repeats do not prolong the day for which another amount is refused', async () => {
  const { ask } = await bought()
  world.refundReplies.as = 'half'
  for (let hours = 0; hours < 24; hours += 8) {
    expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
    expect(await ask('1.00')).toMatchObject({ status: 409 })
    await world.advance(8 * HOUR)
  }
  world.refundReplies.as = 'whole'
  expect(await ask('1.00')).toMatchObject({ code: 2000 })
})

test('a request without an answer that is older than the kept input counts as sent', async () => {
  const { ask } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  world.refundReplies.as = 'whole'
  const { db } = world.shop.ctx
  await db.execute(sql`alter table payment_refunds drop column input, drop column sent_at`)
  for (const statement of migrationStatements('_refund_input.sql')) await db.execute(sql.raw(statement))
  await world.advance(11 * MINUTE)
  expect(await ask('1.00')).toMatchObject({ status: 409, data: { reason: 'refund_unanswered' } })
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made + 1)
})
