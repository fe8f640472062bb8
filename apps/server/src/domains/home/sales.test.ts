import type { Order } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../payments/tables.ts'
import { orderEvents } from '../orders/tables.ts'
import { startHome, type Home } from './home.fixture.ts'

let shop: Home['shop']
let as: Home['as']
let place: Home['place']
let ask: Home['ask']
let close: Home['close']

beforeAll(async () => {
  ;({ shop, as, place, ask, close } = await startHome())
})
afterAll(() => close?.())

test('sales by day, of this month until today and of the month before, with the days of no sale', async () => {
  const pay = async (at: string, amount: string) => {
    const orderId = await place({ createdAt: new Date(at), state: 'expired', paidAt: new Date(at), payAmount: amount })
    await shop.ctx.db.insert(payments).values({
      orderId,
      platformOrderId: `p${orderId}`,
      platformOrderNumber: '#1',
      kind: 'purchase',
      amount,
      discount: '0.00',
      accepted: true,
      createdAt: new Date(at)
    })
    await shop.ctx.db.insert(orderEvents).values([
      { orderId, kind: 'placed', at: new Date(at) },
      { orderId, kind: 'pay', at: new Date(at) }
    ])
    return orderId
  }
  await pay('2026-01-31T23:59:00Z', '5.00')
  const february = await pay('2026-02-28T23:59:00Z', '7.10')
  const first = await pay('2026-03-01T00:00:00Z', '20.00')
  const second = await pay('2026-03-01T10:00:00Z', '0.20')
  const { today, month, before } = await ask('sales')
  expect(today).toBe('2026-03-14')
  expect([before.length, before.at(0)?.day, before.at(-1)]).toEqual([
    28,
    '2026-02-01',
    { day: '2026-02-28', orders: 1, paid: 1, revenue: '7.10' }
  ])
  expect([month.length, month.at(-1)?.day]).toEqual([14, '2026-03-14'])
  expect(month.slice(0, 2)).toEqual([
    { day: '2026-03-01', orders: 2, paid: 2, revenue: '20.20' },
    { day: '2026-03-02', orders: 0, paid: 0, revenue: '0.00' }
  ])

  // The rows behind each of these figures.
  const renewed = new Date('2026-03-02T00:00:00Z')
  await shop.ctx.db.insert(orderEvents).values({ orderId: february, kind: 'renewed', at: renewed })
  const listed = async (query: string) =>
    (await as('owner').get<{ data: Order[] }>(`/api/orders/order_list/?sort_order=asc&${query}`)).data.data.map(
      ({ id }) => id
    )
  expect(await listed('placed_on=2026-02-28&pay_status=1')).toEqual([february])
  expect(await listed('placed_on=2026-02-28&pay_status=0')).toEqual([])
  expect(await listed('placed_in=2026-03&pay_status=1')).toEqual([first, second])
  expect(await listed('paid_on=2026-03-01')).toEqual([first, second])
  expect(await listed('paid_on=2026-03-02')).toEqual([february])
  expect(await listed('paid_in=2026-03')).toEqual([february, first, second])
  expect(await listed('paid_in=2026-03&paid_on=2026-03-01')).toEqual([first, second])
  for (const wrong of ['paid_in=2026-13', 'paid_in=0000-01', 'paid_on=2026-02-30', 'placed_on=9999999-01-01'])
    expect((await as('owner').get(`/api/orders/order_list/?${wrong}`)).status).toBe(400)
  // The last day and month that are allowed.
  expect(await listed('paid_on=9998-12-31')).toEqual([])
  expect(await listed('paid_in=9999-12')).toEqual([])
})

test('the orders behind the money of a day are those whose payment settled them', async () => {
  const at = new Date('2025-12-05T10:00:00Z')
  const pay = async (change: Parameters<Home['place']>[0]) => {
    const orderId = await place({ createdAt: at, paidAt: at, payAmount: '9.00', ...change })
    await shop.ctx.db.insert(orderEvents).values([
      { orderId, kind: 'placed', at },
      { orderId, kind: 'pay', at }
    ])
    return orderId
  }
  const sold = await pay({ state: 'delivered' })
  const short = await pay({ state: 'failed', failCode: 'underpaid' })
  // Its payment counts, because only addresses are missing.
  const waiting = await pay({ state: 'failed', failCode: 'out_of_stock' })
  // Its short payment was refunded.
  await pay({ state: 'timed_out', paidAt: null, payAmount: null })
  const listed = async (query: string) =>
    (await as('owner').get<{ data: Order[] }>(`/api/orders/order_list/?sort_order=asc&${query}`)).data.data.map(
      ({ id }) => id
    )
  expect(await listed('paid_on=2025-12-05')).toEqual([sold, waiting])
  expect(await listed('paid_in=2025-12')).toEqual([sold, waiting])
  expect(await listed('placed_on=2025-12-05&pay_status=1')).toEqual([sold, short, waiting])
})

test("a month's sales as CSV, by day, product and currency, add up to the figures by day", async () => {
  const pay = async (
    at: string,
    productName: string,
    change: Partial<typeof payments.$inferInsert>,
    deleted = false
  ) => {
    const paidAt = new Date(at)
    const orderId = await place({ productName, paidAt, payAmount: '9.00', deletedAt: deleted ? paidAt : null })
    await shop.ctx.db.insert(payments).values({
      orderId,
      platformOrderId: `c${orderId}`,
      platformOrderNumber: '#1',
      kind: 'purchase',
      amount: '9.00',
      discount: '0.00',
      accepted: true,
      createdAt: paidAt,
      ...change
    })
  }
  await pay('2026-02-01T00:00:00Z', 'Plan', { refundedAmount: '4.00' })
  await pay('2026-02-01T23:59:59Z', 'Plan', { kind: 'renewal', amount: '1.50' })
  await pay('2026-02-01T10:00:00Z', '=1+1', {})
  await pay('2026-02-02T10:00:00Z', 'Plan', { accepted: false })
  await pay('2026-02-02T11:00:00Z', 'Plan', {}, true)
  const csv = async (query: string) => {
    const text = await (await as('viewer').fetch(`/api/home/sales.csv${query}`)).text()
    return text.trim().split('\r\n')
  }
  const lines = await csv('?in_month=2026-02')
  expect(lines).toEqual([
    'day,product,currency,purchases,renewals,paid,refunded,revenue',
    "2026-02-01,'=1+1,USD,1,0,9.00,0.00,9.00",
    '2026-02-01,Plan,USD,1,1,10.50,4.00,6.50',
    '2026-02-28,Plan,USD,1,0,7.10,0.00,7.10'
  ])
  const { before } = await ask('sales')
  const sold = before.filter(({ revenue }) => revenue !== '0.00').map(({ day, revenue }) => [day, revenue])
  expect(sold).toEqual([
    ['2026-02-01', '15.50'],
    ['2026-02-28', '7.10']
  ])
  // Without a month it is the current one.
  expect((await csv('')).slice(1)).toEqual(['2026-03-01,Plan,USD,2,0,20.20,0.00,20.20'])
  for (const month of ['2026-13', '0000-01'])
    expect(await as('viewer').get(`/api/home/sales.csv?in_month=${month}`), month).toMatchObject({ status: 400 })
})
