import type { BulkAction, BulkPlan, BulkRow, BulkRun, Page } from '@netlet/contract'
import { eq, like, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from './api/stocked-shop.fixture.ts'
import { bulkActions } from './bulk-actions.ts'
import { users } from './domains/accounts/tables.ts'
import { bulkJobs } from './domains/bulk/index.ts'
import { release } from './domains/inventory/index.ts'
import { giftCards } from './domains/rewards/tables.ts'
import { orders } from './domains/orders/tables.ts'
import { paymentRefunds, payments } from './domains/payments/tables.ts'
import { addRow, addRows } from './testing/rows.ts'

let shop: StockedShop
let admin: Buyer
let buyer: Buyer
const NEVER_PAID = { paidAt: null, payAmount: null }

/** Orders of every kind that some action treats differently, and a missing one. */
let ids: number[]

beforeAll(async () => {
  shop = await startStockedShop()
  ;[admin, buyer] = [await shop.admin(), await shop.customer()]
  const { db } = shop.ctx
  const past = new Date(0)
  const changes: Partial<typeof orders.$inferInsert>[] = [
    { ...NEVER_PAID, state: 'placed', expiredAt: null, deliveryNum: 0 },
    { deliveryNum: 8 },
    { deliveryNum: 4 },
    { state: 'delivering', expiredAt: null, deliveryNum: 0 },
    { state: 'partly_delivered', expiredAt: null, deliveryNum: 4 },
    { state: 'paid', expiredAt: null, deliveryNum: 0 },
    { state: 'failed', failCode: 'out_of_stock', expiredAt: null, deliveryNum: 0 },
    { state: 'failed', failCode: 'underpaid', expiredAt: null, deliveryNum: 0 },
    { state: 'refunded' },
    { state: 'expired', expiredAt: past },
    { expiredAt: past },
    { task: 'check', taskId: 'asked', taskAt: shop.ctx.now() },
    { deletedAt: past }
  ]
  const made = []
  for (const change of changes) {
    const { id } = await shop.buy(buyer)
    await db.update(orders).set(change).where(eq(orders.id, id))
    made.push(id)
  }
  // Ended orders have released their addresses.
  for (const ended of [8, 9]) {
    const orderId = made[ended] ?? 0
    await db.transaction(tx => release(tx, { orderId }))
  }
  const refunding = (await shop.buy(buyer)).id
  const [payment] = await db.select().from(payments).where(eq(payments.orderId, refunding))
  await addRow(shop.ctx, paymentRefunds, {
    key: 'asked:1',
    platformOrderId: payment?.platformOrderId ?? '',
    state: 'asked',
    amount: '3.00'
  })
  const unaccepted = (await shop.buy(buyer)).id
  await db.update(payments).set({ accepted: false }).where(eq(payments.orderId, unaccepted))
  const leaving = await shop.customer({ username: 'leaving' })
  const ofDeleted = (await shop.buy(leaving)).id
  await db.update(users).set({ deletedAt: past }).where(eq(users.username, 'leaving'))
  ids = [...made, refunding, unaccepted, ofDeleted, 999_999]
}, 60_000)
afterAll(() => shop?.close())

const planOf = async (action: BulkAction, by = admin) => {
  const reply = await by.post<BulkPlan>('/api/bulk/plan/', { action, selection: { ids } })
  if (!reply.data.outcomes) throw new Error(reply.msg)
  const { effects, refusals } = reply.data.outcomes
  return {
    rows: reply.data.rows,
    effects: Object.fromEntries(effects.map(({ effect, rows }) => [effect, rows])),
    refusals: Object.fromEntries(refusals.map(({ reason, rows }) => [reason, rows]))
  }
}

/** What a run of the same rows really refuses. Its effects are reverted by hand if the next test needs it. */
async function refusedBy(action: BulkAction, by = admin): Promise<Record<string, number>> {
  const { data } = await by.post<BulkRun>('/api/bulk/', { action, selection: { ids } })
  const [work] = bulkJobs(bulkActions)
  await work?.run(shop.ctx, { runId: data.id } as never, 'test')
  const rows = (await by.get<Page<BulkRow>>(`/api/bulk/${data.id}/rows/?limit=1000&state=refused`)).data.data
  await shop.ctx.db.execute(
    sql`update orders set task = null, task_id = null, task_at = null where task_id is distinct from 'asked'`
  )
  return Object.fromEntries([...Map.groupBy(rows, row => row.reason ?? '')].map(([key, all]) => [key, all.length]))
}

test('the plan of a batch delivery counts what is refused, and by what, as the run does', async () => {
  const plan = await planOf('order.deliver')
  expect(plan).toEqual({
    rows: 17,
    effects: { first_delivery: 2, unsettled: 1, missing: 3, again: 2 },
    refusals: {
      order_not_paid: 1,
      order_refunded: 1,
      order_over: 2,
      order_busy: 1,
      refund_running: 1,
      order_of_deleted: 1,
      not_found: 2
    }
  })
  expect(await refusedBy('order.deliver')).toEqual(plan.refusals)
})

test('whose role does not decide about money is told which orders that keeps from being delivered', async () => {
  const support = await shop.admin({ username: 'helper' })
  await shop.ctx.db.update(users).set({ operatorRole: 'support' }).where(eq(users.id, support.user.id))
  const plan = await planOf('order.deliver', support)
  expect(plan.refusals).toMatchObject({ role_not_allowed: 1 })
  expect(await refusedBy('order.deliver', support)).toEqual(plan.refusals)
})

test.each(['order.change', 'order.reset', 'order.check'] as const)(
  'the plan of %s counts what is refused as the run does',
  async action => {
    const plan = await planOf(action)
    expect(plan.refusals).toMatchObject({ order_not_paid: 1, no_proxies: action === 'order.check' ? 4 : 3 })
    expect(await refusedBy(action)).toEqual(plan.refusals)
  }
)

test('the plan of a batch deletion says what holds proxies still, and what the others are', async () => {
  const plan = await planOf('order.delete')
  expect(plan).toEqual({ rows: 17, effects: { ended: 2 }, refusals: { order_has_lease: 13, not_found: 2 } })
  expect(await refusedBy('order.delete')).toEqual(plan.refusals)
})

test('all that match are planned by the list’s query, and what was never paid or is owed is told apart', async () => {
  const other = await shop.customer({ username: 'planned' })
  const made = [await shop.buy(other), await shop.buy(other), await shop.buy(other), await shop.buy(other)]
  const { db } = shop.ctx
  for (const { id } of made) await db.transaction(tx => release(tx, { orderId: id }))
  // The last one lost its addresses while its time runs.
  const [unpaid, failed, ended] = made.map(({ id }) => id)
  await db
    .update(orders)
    .set({ ...NEVER_PAID, state: 'timed_out', expiredAt: null })
    .where(eq(orders.id, unpaid ?? 0))
  await db
    .update(orders)
    .set({ state: 'failed' })
    .where(eq(orders.id, failed ?? 0))
  await db
    .update(orders)
    .set({ state: 'expired' })
    .where(eq(orders.id, ended ?? 0))
  const selection = { query: { username: 'planned' } }
  expect(await admin.post('/api/bulk/plan/', { action: 'order.delete', selection })).toMatchObject({
    data: {
      rows: 4,
      outcomes: {
        effects: expect.arrayContaining(['unpaid', 'owed', 'ended'].map(effect => ({ effect, rows: 1 }))),
        refusals: [{ reason: 'order_runs', rows: 1 }]
      }
    }
  })
})

test('the plan of a deletion of gift cards counts those that were exchanged, as the run refuses them', async () => {
  const made = await addRows(
    shop.ctx,
    giftCards,
    [null, null, buyer.user.id].map((exchangedBy, at) => {
      return { code: `PLAN-${at}`, mount: '5.00', point: 10, isExchanged: exchangedBy !== null, exchangedBy }
    })
  )
  const selection = { ids: [...made.map(({ id }) => id), 999_999] }
  const planned = await admin.post<BulkPlan>('/api/bulk/plan/', { action: 'gift_card.delete', selection })
  expect(planned.data).toEqual({
    rows: 4,
    version: expect.any(String),
    outcomes: {
      effects: [{ effect: 'done', rows: 2 }],
      refusals: expect.arrayContaining([
        { reason: 'gift_card_exchanged', rows: 1 },
        { reason: 'not_found', rows: 1 }
      ])
    }
  })
  expect(await shop.ctx.db.$count(giftCards, like(giftCards.code, 'PLAN-%'))).toBe(3)
  const { data } = await admin.post<BulkRun>('/api/bulk/', { action: 'gift_card.delete', selection })
  const [work] = bulkJobs(bulkActions)
  await work?.run(shop.ctx, { runId: data.id } as never, 'test')
  const rows = (await admin.get<Page<BulkRow>>(`/api/bulk/${data.id}/rows/?limit=10&state=refused`)).data.data
  expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['gift_card_exchanged', 'not_found']))
})
