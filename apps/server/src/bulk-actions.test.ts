import type { BulkAction, BulkRow, BulkRun, GiftCard, Order, Page } from '@netlet/contract'
import { eq, inArray, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startStockedShop, type Buyer, type StockedShop } from './api/stocked-shop.fixture.ts'
import { bulkActions } from './bulk-actions.ts'
import { bulkJobs } from './domains/bulk/index.ts'
import { orders } from './domains/orders/tables.ts'
import { coupons, giftCards, levelCodes } from './domains/rewards/tables.ts'
import { addRow, addRows } from './testing/rows.ts'

let shop: StockedShop
let admin: Buyer
let buyer: Buyer

beforeAll(async () => {
  shop = await startStockedShop()
  ;[admin, buyer] = [await shop.admin(), await shop.customer()]
})
beforeEach(() => shop.ctx.db.execute(sql`truncate bulk_runs, bulk_rows`))
afterAll(() => shop?.close())

type Selection = { ids: number[] } | { query: Record<string, string>; expected?: number }

const start = (action: BulkAction, selection: Selection) => admin.post<BulkRun>('/api/bulk/', { action, selection })

/** Starts a run, works on it as a worker does, and returns its rows. */
async function rowsAfter(action: BulkAction, selection: Selection): Promise<BulkRow[]> {
  const reply = await start(action, selection)
  if (reply.code !== 2000) throw new Error(reply.msg)
  const [work] = bulkJobs(bulkActions)
  await work?.run(shop.ctx, { runId: reply.data.id } as never, 'test')
  expect((await admin.get<BulkRun>(`/api/bulk/${reply.data.id}/`)).data.state).toBe('done')
  return (await admin.get<Page<BulkRow>>(`/api/bulk/${reply.data.id}/rows/?limit=1000`)).data.data
}
const outcomes = (rows: BulkRow[]) => rows.map(({ id, label, state, reason }) => [id, label, state, reason])

async function addCards(...codes: string[]): Promise<number[]> {
  const made = await addRows(
    shop.ctx,
    giftCards,
    codes.map(code => ({ code, mount: '5.00', point: 50 }))
  )
  return made.map(({ id }) => id)
}
const cardsLeft = async (ids: number[]) =>
  (await shop.ctx.db.select().from(giftCards).where(inArray(giftCards.id, ids)).orderBy(giftCards.id)).map(
    ({ id }) => id
  )

test('gift cards are deleted by id; an exchanged one stays', async () => {
  const [first = 0, taken = 0, kept = 0] = await addCards('IDS-1', 'IDS-2', 'IDS-3')
  await shop.ctx.db
    .update(giftCards)
    .set({ isExchanged: true, exchangedBy: buyer.user.id, exchangedAt: shop.ctx.now() })
    .where(eq(giftCards.id, taken))
  expect(outcomes(await rowsAfter('gift_card.delete', { ids: [first, taken, 999_999] }))).toEqual([
    [first, 'IDS-1', 'succeeded', null],
    [taken, 'IDS-2', 'refused', 'gift_card_exchanged'],
    [999_999, '#999999', 'refused', 'not_found']
  ])
  expect(await cardsLeft([first, taken, kept])).toEqual([taken, kept])
  const { rows } = await shop.ctx.db.execute(
    sql`select actor_id, target_id from audit_log where action = 'gift_card.delete' order by id`
  )
  expect(rows).toEqual([{ actor_id: admin.user.id, target_id: String(first) }])
})

test('gift cards are deleted by a query, as the list reads it', async () => {
  const [one = 0, two = 0, taken = 0] = await addCards('QUERY-1', 'query-2', 'QUERY-3')
  await shop.ctx.db
    .update(giftCards)
    .set({ isExchanged: true, exchangedBy: buyer.user.id, exchangedAt: shop.ctx.now() })
    .where(eq(giftCards.id, taken))
  const query = { search: 'query', is_exchanged: '0', limit: '1', sort_by: 'point' }
  const shown = await admin.get<Page<GiftCard>>(`/api/rewards/gift_card/?${new URLSearchParams(query).toString()}`)
  expect(shown.code).toBe(2000)
  expect((await rowsAfter('gift_card.delete', { query, expected: 2 })).map(row => row.id)).toEqual([one, two])
  expect(await cardsLeft([one, two, taken])).toEqual([taken])
})

test.each([
  ['a filter that the list does not have', 'gift_card.delete', { serch: 'x' }, 'selection.query'],
  [
    'a value that the list does not take',
    'gift_card.delete',
    { is_exchanged: 'maybe' },
    'selection.query.is_exchanged'
  ],
  ['a filter of another list', 'order.delete', { is_exchanged: '0' }, 'selection.query'],
  ['a state that orders have not', 'order.delete', { state: 'lost' }, 'selection.query.state']
] as const)('is refused: %s', async (_what, action, query, field) => {
  expect(await start(action, { query })).toMatchObject({
    code: 400,
    data: { reason: 'invalid', errors: { [field]: expect.any(String) } }
  })
})

test('a few unknown filters are named, many are not sent back', async () => {
  const refused = (keys: string[]) => start('order.delete', { query: Object.fromEntries(keys.map(key => [key, '1'])) })
  const one = await refused(['serch'])
  expect(one).toMatchObject({ data: { errors: { 'selection.query': expect.stringContaining('serch') as string } } })
  const many = await refused(Array.from({ length: 20_000 }, (_, at) => `key${at}`))
  expect(many).toMatchObject({ code: 400, data: { errors: { 'selection.query': 'Unknown key' } } })
  expect(await refused(['x'.repeat(500)])).toMatchObject({ data: { errors: { 'selection.query': 'Unknown key' } } })
})

test('orders: what each of the actions does, and refuses', async () => {
  const [live, unpaid] = [await shop.buy(buyer), await place()]
  const ids = [live.id, unpaid.id]
  for (const action of ['order.change', 'order.reset', 'order.check', 'order.deliver'] as const) {
    expect(outcomes(await rowsAfter(action, { ids }))).toEqual([
      [live.id, live.publicId, 'succeeded', null],
      [unpaid.id, unpaid.orderId, 'refused', 'order_not_paid']
    ])
    const task = action.slice('order.'.length)
    const [order] = await shop.ctx.db.select().from(orders).where(eq(orders.id, live.id))
    expect(order).toMatchObject({ task })
    const { rows } = await shop.ctx.db.execute(
      sql`select data from pgboss.job where data->>'taskId' = ${String(order?.taskId)}`
    )
    expect(rows).toHaveLength(1)
    expect((await rowsAfter(action, { ids: [live.id] }))[0]).toMatchObject({ state: 'refused', reason: 'order_busy' })
    await shop.ctx.db.update(orders).set({ task: null, taskId: null, taskAt: null }).where(eq(orders.id, live.id))
  }
  expect(outcomes(await rowsAfter('order.delete', { ids }))).toEqual([
    [live.id, live.publicId, 'refused', 'order_has_lease'],
    [unpaid.id, unpaid.orderId, 'refused', 'order_has_lease']
  ])
})

test('orders are chosen by the filters of their list', async () => {
  const other = await shop.customer({ username: 'bulk1' })
  const bought = await shop.buy(other)
  const problem = await shop.buy(other)
  await shop.ctx.db.update(orders).set({ state: 'failed', deliveryNum: 0 }).where(eq(orders.id, problem.id))
  const unpaid = await place(other)
  const chosen = async (query: Record<string, string>) =>
    (await rowsAfter('order.delete', { query: { username: 'bulk1', ...query } })).map(row => row.id)
  expect(await chosen({})).toEqual([bought.id, problem.id, unpaid.id])
  expect(await chosen({ pay_status: '1' })).toEqual([bought.id, problem.id])
  expect(await chosen({ state: 'placed' })).toEqual([unpaid.id])
  expect(await chosen({ problem: '1' })).toEqual([problem.id])
  expect(await chosen({ order_id: bought.publicId })).toEqual([bought.id])
  expect(await start('order.delete', { query: { username: 'nobody at all' } })).toMatchObject({ code: 409 })
})

test('orders that are chosen by an address stand in the audit log as a look at who has it, when planned and when started', async () => {
  const bought = await shop.buy(buyer)
  const { rows } = await shop.ctx.db.execute<{ ip: string }>(
    sql`select host(ip) as ip from proxies where order_id = ${bought.id} limit 1`
  )
  const address = rows[0]?.ip ?? ''
  const looks = async () =>
    (
      await shop.ctx.db.execute(
        sql`select actor_id from audit_log where action = 'cidr.look_up' and target_id = ${address}`
      )
    ).rows.map(row => row['actor_id'])
  const order = { action: 'order.check', selection: { query: { search: address } } }
  expect(await admin.post('/api/bulk/plan/', order)).toMatchObject({ code: 2000, data: { rows: 1 } })
  expect(await looks()).toEqual([admin.user.id])
  const another = await shop.admin({ username: 'looks1' })
  const run = await another.post<BulkRun>('/api/bulk/', order)
  const shown = await another.get<Page<BulkRow>>(`/api/bulk/${run.data.id}/rows/`)
  expect(shown.data.data).toMatchObject([{ id: bought.id, label: bought.publicId }])
  expect(await looks()).toEqual([admin.user.id, another.user.id])
  await another.post('/api/bulk/', { action: 'order.check', selection: { query: { search: bought.publicId } } })
  expect(await looks()).toHaveLength(2)
})

async function place(by = buyer): Promise<{ id: number; orderId: string }> {
  const placed = await by.post<{ order_id: string }>('/api/orders/checkout', {
    product_id: shop.productId,
    quantity: 8,
    option_selected: { option1: 'New York', acl_selected: shop.rules.slice(0, 1) }
  })
  const orderId = placed.data.order_id
  const found = await by.get<Page<Order>>(`/api/orders/order_list/?search=${orderId}`)
  return { id: found.data.data[0]?.id ?? 0, orderId }
}

test('codes are asked about on the platform, each by a job; those that were used or handed out are not', async () => {
  const { db } = shop.ctx
  const [open = 0, taken = 0] = await addCards('THERE-1', 'THERE-2')
  await db
    .update(giftCards)
    .set({ isExchanged: true, exchangedBy: buyer.user.id, exchangedAt: shop.ctx.now() })
    .where(eq(giftCards.id, taken))
  expect(outcomes(await rowsAfter('gift_card.create_there', { ids: [open, taken] }))).toEqual([
    [open, 'THERE-1', 'succeeded', null],
    [taken, 'THERE-2', 'refused', 'code_used']
  ])
  const query = { platform_state: 'waiting' }
  expect((await rowsAfter('gift_card.check', { query, expected: 1 })).map(row => row.id)).toEqual([open])
  const coupon = await addRow(shop.ctx, coupons, {
    holderId: buyer.user.id,
    code: 'THERE-3',
    codeType: 1,
    discount: '1.00'
  })
  const ofCoupons = { query: { search: 'THERE-3', platform_state: 'unknown' }, expected: 1 }
  expect(outcomes(await rowsAfter('coupon.create_there', ofCoupons))).toEqual([
    [coupon.id, 'THERE-3', 'succeeded', null]
  ])
  const level = await addRow(shop.ctx, levelCodes, { level: 5, discount: '1.00', point: 1 })
  expect((await rowsAfter('level_code.check', { ids: [level.id] }))[0]).toMatchObject({ reason: 'no_code' })
  const { rows } = await db.execute(
    sql`select data->>'kind' as kind, data->>'act' as act from pgboss.job where name = 'platform-code' order by 1, 2`
  )
  expect(rows).toEqual([
    { kind: 'coupon', act: 'create' },
    { kind: 'gift_card', act: 'check' },
    { kind: 'gift_card', act: 'create' }
  ])
})
