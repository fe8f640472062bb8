import { SETUP_STEPS, type Order, type Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { addRule, inTransaction } from '../inventory/inventory.fixture.ts'
import { addCidr, removeCidr } from '../inventory/index.ts'
import { orderEvents } from '../orders/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { START, startHome, type Home } from './home.fixture.ts'

let shop: Home['shop']
let serverId: Home['serverId']
let as: Home['as']
let place: Home['place']
let ask: Home['ask']
let now: Home['now']
let close: Home['close']

beforeAll(async () => {
  ;({ shop, serverId, as, place, ask, now, close } = await startHome())
})
afterAll(() => close?.())

test('a new shop says which steps are left before it can sell', async () => {
  const done = async () => (await ask('setup')).filter(one => one.done).map(({ step }) => step)
  const { ctx } = shop
  await writeSettings(ctx, { shopify_shop_url: '', sendgrid_api_key: '' })
  expect(await done()).toEqual(['rule', 'server', 'group', 'product'])
  await writeSettings(ctx, { shopify_shop_url: 'a.example.com', shopify_app_key: 'token' })
  expect(await done()).not.toContain('platform')
  await writeSettings(ctx, { shopify_api_secret: 'secret' })
  expect(await done()).toContain('platform')
  await writeSettings(ctx, { email_method: 'mailgun', mailgun_api_key: 'key' })
  expect(await done()).not.toContain('mail')
  await writeSettings(ctx, { mailgun_sender_domain: 'mail.example.com' })
  expect(await done()).toEqual([...SETUP_STEPS])
  await ctx.db.execute(sql`update variants set is_active = false`)
  expect(await done()).not.toContain('product')
  await ctx.db.execute(sql`update variants set is_active = true`)
})

test('free addresses by group and rule; a group without servers has none', async () => {
  expect(await ask('stock')).toEqual({
    groups: [
      expect.objectContaining({ name: 'New York', family: 'ipv4' }),
      expect.objectContaining({ name: 'Nowhere', family: 'ipv4' })
    ],
    rules: [expect.objectContaining({ name: 'Adidas' }), expect.objectContaining({ name: 'Nike' })],
    free: [
      [16, 16],
      [0, 0]
    ],
    more: { groups: 0, rules: 0 }
  })
})

test('IPv4 addresses and IPv6 /64s of a group are apart', async () => {
  const { db } = shop.ctx
  const added = await inTransaction(db, addCidr, { cidr: '2001:db8:40::/60', serverId })
  if (!added.ok) throw new Error(added.reason)
  // IPv4 is sold out.
  await db.execute(sql`update servers set refused_ranges = '{10.1.0.0/28}'`)
  const { groups, free } = await ask('stock')
  expect(groups.map(({ name, family }) => [name, family])).toEqual([
    ['New York', 'ipv4'],
    ['New York', 'ipv6'],
    ['Nowhere', 'ipv4']
  ])
  expect(free).toEqual([
    [0, 0],
    [16, 16],
    [0, 0]
  ])
  await db.execute(sql`update servers set refused_ranges = '{}'`)
  await db.transaction(tx => removeCidr({ tx }, added.cidrId))
})

test('a map of very many rules keeps those with the least stock, and says how many it left out', async () => {
  const { db } = shop.ctx
  for (let n = 0; n < 39; n++) await addRule(db, `Rule ${n}`)
  const [last] = (await db.execute<{ id: number }>(sql`select max(id) as id from acl_rules`)).rows
  await db.execute(sql`update chunks set excluded_rules = array[${last?.id}::int]`)
  const { rules, free, more } = await ask('stock')
  expect([rules.length, more]).toEqual([40, { groups: 0, rules: 1 }])
  expect(rules.map(({ id }) => id)).toContain(last?.id)
  expect(free[0]).toHaveLength(40)
})

test('endings of the next 14 days are counted as the list of a day does', async () => {
  const ends = (expiredAt: string, state: 'delivered' | 'partly_delivered' | 'expired') =>
    place({
      state,
      paidAt: START,
      payAmount: '20.00',
      deliveredAt: START,
      deliveryNum: 8,
      expiredAt: new Date(expiredAt)
    })
  await ends('2026-03-13T23:59:59Z', 'delivered')
  await ends('2026-03-14T00:00:00Z', 'delivered')
  const late = await ends('2026-03-16T23:59:59Z', 'partly_delivered')
  const early = await ends('2026-03-16T00:00:00Z', 'delivered')
  await ends('2026-03-16T12:00:00Z', 'expired')
  await ends('2026-03-27T23:59:59Z', 'delivered')
  await ends('2026-03-28T00:00:00Z', 'delivered')
  const endings = await ask('endings')
  expect(endings).toHaveLength(14)
  expect(endings.filter(day => day.orders > 0)).toEqual([
    { day: '2026-03-14', orders: 1 },
    { day: '2026-03-16', orders: 2 },
    { day: '2026-03-27', orders: 1 }
  ])
  const path = '/api/orders/order_list/?ends_on=2026-03-16'
  const byId = (await as('owner').get(path)).data as { data: Order[]; total: number }
  expect([byId.total, byId.data.map(({ id }) => id)]).toEqual([2, [early, late]])
  const byTime = await as('owner').get(`${path}&sort_by=expired_at&sort_order=desc`)
  expect((byTime.data as typeof byId).data.map(({ id }) => id)).toEqual([late, early])
  expect(await as('owner').get('/api/orders/order_list/?ends_on=tomorrow')).toMatchObject({ status: 400 })
})

test('delivery times are told from paid to delivered, each order once', async () => {
  const delivered = async (paid: number, took: number, deletedAt: Date | null = null) => {
    const paidAt = new Date(now().getTime() - paid)
    const deliveredAt = new Date(paidAt.getTime() + took)
    const id = await place({ state: 'expired', paidAt, payAmount: '20.00', deliveredAt, deletedAt })
    await shop.ctx.db.insert(orderEvents).values([
      { orderId: id, kind: 'deliver_all', at: deliveredAt },
      // It lost addresses and got all of them again.
      { orderId: id, kind: 'deliver_all', at: new Date(deliveredAt.getTime() + MINUTE) }
    ])
    return id
  }
  expect(await ask('deliveries')).toEqual({
    day: { orders: 0, p50: null, p99: null },
    week: { orders: 0, p50: null, p99: null },
    slowest: []
  })
  await delivered(2 * HOUR, 2000)
  await delivered(2 * HOUR, 4000)
  const slow = await delivered(5 * HOUR, HOUR)
  const slowest = await delivered(3 * DAY, 2 * HOUR)
  await delivered(9 * DAY, 3 * HOUR)
  await delivered(HOUR, 30 * MINUTE, now())
  const { day, week, slowest: list } = await ask('deliveries')
  expect(day).toEqual({ orders: 3, p50: 4, p99: 3600 })
  expect(week).toEqual({ orders: 4, p50: 4, p99: 7200 })
  // The filter lists what the figures count.
  const listed = async (time: string) =>
    (await as('owner').get<{ data: Order[] }>(`/api/orders/order_list/?delivered_in=${time}`)).data.data.map(
      ({ id }) => id
    )
  expect(await listed('day')).toHaveLength(day.orders)
  expect(await listed('week')).toHaveLength(week.orders)
  expect(await listed('week')).toEqual(expect.arrayContaining([slow, slowest]))
  const bySlowest = '/api/orders/order_list/?sort_by=delivery_seconds&sort_order=desc'
  const sorted = async (query: string) => (await as('owner').get<Page<Order>>(bySlowest + query)).data
  const first = await sorted('&delivered_in=day&limit=2')
  expect(first.data.map(order => [order.id, order.delivery_seconds])).toEqual([
    [slow, 3600],
    [expect.any(Number), 4]
  ])
  expect((await sorted(`&delivered_in=day&limit=2&after=${first.next}`)).data).toMatchObject([{ delivery_seconds: 2 }])
  // Without a time, list and total cover a week.
  const ofWeek = await sorted('')
  expect([ofWeek.total, ofWeek.data[0]?.id]).toEqual([4, slowest])
  expect(list.map(({ id, seconds }) => [id, seconds]).slice(0, 2)).toEqual([
    [slowest, 7200],
    [slow, 3600]
  ])
})
