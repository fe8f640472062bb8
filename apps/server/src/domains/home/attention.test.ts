import { randomUUID } from 'node:crypto'
import {
  OPERATOR_ROLES,
  routes,
  type InboxDetail,
  type InboxEntry,
  type OperatorRole,
  type Page,
  type ReplyOf
} from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { iso, MINUTE } from '../../infra/clock.ts'
import { DEAD_LETTER } from '../../infra/jobs.ts'
import { servers } from '../servers/tables.ts'
import { mails } from '../mail/tables.ts'
import { tickets } from '../support/tables.ts'
import { START, startHome, type Home } from './home.fixture.ts'
import { addRow, addRows } from '../../testing/rows.ts'

let shop: Home['shop']
let serverId: Home['serverId']
let as: Home['as']
let place: Home['place']
let ask: Home['ask']
let now: Home['now']
let wait: Home['wait']
let countOf: Home['countOf']
let totalOf: Home['totalOf']
let close: Home['close']

beforeAll(async () => {
  ;({ shop, serverId, as, place, ask, now, wait, countOf, totalOf, close } = await startHome())
})
afterAll(() => close?.())

test('counts what needs attention as the lists that it leads to do', async () => {
  const { db } = shop.ctx
  expect(await ask('attention')).toEqual([
    { what: 'undelivered', count: 0 },
    { what: 'payments', count: 0 },
    { what: 'store_password', count: 0 },
    { what: 'webhooks', count: 0 },
    { what: 'late_events', count: 0 },
    { what: 'servers', count: 0 },
    { what: 'upgrades', count: 0 },
    { what: 'abuse', count: 0 },
    { what: 'proofs', count: 0 },
    { what: 'dead_letters', count: 0 },
    { what: 'mails', count: 0 },
    { what: 'notices', count: 0 },
    { what: 'prices', count: 0 },
    { what: 'stock', count: 1 },
    { what: 'tickets', count: 0 }
  ])

  await place({ state: 'paid', paidAt: START, payAmount: '20.00' })
  await place({ state: 'failed', paidAt: START, payAmount: '20.00' })
  await place({ state: 'refunded', paidAt: START, payAmount: '20.00' })
  await place({ state: 'failed', paidAt: START, payAmount: '20.00', deletedAt: START })
  await place()
  expect(await countOf('undelivered')).toBe(2)
  expect(await totalOf('/api/orders/order_list/?problem=1')).toBe(2)

  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, needs_hand, outcome)
    values ('a', 'orders/paid', '{}', now(), true, 'unknown_order'), ('b', 'orders/paid', '{}', now(), false, null)`)
  expect(await countOf('payments')).toBe(1)
  expect(await totalOf('/api/payments/inbox/?unresolved=1')).toBe(1)

  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at)
    values ('late', 'orders/paid', '{}', ${iso(new Date(now().getTime() - 61 * MINUTE))}), ('new', 'orders/paid', '{}', ${iso(now())})`)
  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, waits_for)
    values ('late product', 'products/update', '{}', ${iso(new Date(now().getTime() - 2 * 60 * MINUTE))}, 'no answer')`)
  expect(await countOf('late_events')).toBe(2)
  const late = (await as('owner').get<Page<InboxEntry>>('/api/payments/inbox/?late=1')).data
  expect(late.data.map(entry => [entry.topic, entry.waits_for])).toEqual([
    ['products/update', 'no answer'],
    ['orders/paid', null]
  ])
  const [product] = late.data
  expect((await as('owner').get<InboxDetail>(`/api/payments/inbox/${product?.id}/`)).data.entry).toEqual(product)
  await db.execute(sql`delete from platform_events where event_id = 'late product'`)

  await db.update(servers).set({ connected: false }).where(eq(servers.id, serverId))
  expect(await countOf('servers')).toBe(1)
  expect(await totalOf(`${routes.fleet.servers.path}?state=trouble`)).toBe(1)
  await db.update(servers).set({ status: 'given_up' }).where(eq(servers.id, serverId))
  expect(await countOf('servers')).toBe(0)
  await db.update(servers).set({ connected: true, status: 'active' }).where(eq(servers.id, serverId))

  const mail = {
    to: 'a@example.com',
    template: 'welcome',
    kind: 'security',
    language: 'en',
    claimedAt: START,
    jobId: randomUUID()
  } as const
  await addRows(shop.ctx, mails, [
    { ...mail, state: 'failed', key: 'm1' },
    { ...mail, state: 'sent', key: 'm2' }
  ])
  expect(await countOf('mails')).toBe(1)
  expect(await totalOf('/api/settings/mails/?state=failed')).toBe(1)

  await db.execute(sql`insert into pgboss.job (name, data) values (${DEAD_LETTER}, '{}')`)
  expect(await countOf('dead_letters')).toBe(1)
  expect((await as('owner').get(routes.settings.deadLetters.path)).data).toMatchObject({ data: [{}], more: false })

  const ticket = { username: 'u', email: 'u@example.com', phone: '1', message: 'help', clientIp: '192.0.2.1' }
  await addRows(shop.ctx, tickets, [
    { ...ticket, state: 'open' },
    { ...ticket, state: 'closed' }
  ])
  expect(await countOf('tickets')).toBe(1)
  expect(await totalOf('/api/tickets/ticket/?state=open')).toBe(1)

  await db.execute(sql`insert into price_drifts (variant_id, platform_price, since)
    values (1, 3, now()), (2, 2, now())`)
  expect(await countOf('prices')).toBe(1)
  expect(await totalOf('/api/products/price_drift/')).toBe(1)
})

test('a product is low on stock while a variant of it can be sold fewer than ten times', async () => {
  // Sixteen addresses: sixteen of the one, and two blocks of eight.
  expect(await countOf('stock')).toBe(1)
  // It is as expensive as the map of stock, so it may be as old.
  await shop.ctx.db.execute(sql`update products set active = false where name = 'Small'`)
  wait(5000)
  const soon = (await as('owner').get(routes.home.attention.path)).data as ReplyOf<(typeof routes.home)['attention']>
  expect(soon.find(({ what }) => what === 'stock')?.count).toBe(1)
  expect(await countOf('stock')).toBe(0)
  await shop.ctx.db.execute(sql`update products set active = true where name = 'Small'`)
  const low = (await as('owner').get('/api/products/products/?low_stock=1')).data as {
    data: { product_name: string }[]
  }
  expect(low.data.map(product => product.product_name)).toEqual(['Small'])
  await shop.ctx.db.execute(sql`update products set active = false where id = 2`)
  expect(await countOf('stock')).toBe(0)
  await shop.ctx.db.execute(sql`update products set active = true where id = 2`)
  const visitors = (await shop.visitor().get('/api/products/products/?low_stock=1')).data as { total: number }
  expect(visitors.total).toBe(2)
})

test('a role is shown what it may see, and no more', async () => {
  const seenBy = async (role: OperatorRole) => (await ask('attention', role)).map(({ what }) => what)
  expect(await seenBy('owner')).toContain('dead_letters')
  expect(await seenBy('operations')).toContain('dead_letters')
  expect(await seenBy('support')).not.toContain('dead_letters')
  expect(await seenBy('viewer')).toEqual([
    'undelivered',
    'payments',
    'store_password',
    'webhooks',
    'late_events',
    'servers',
    'upgrades',
    'mails',
    'notices',
    'prices',
    'stock',
    'tickets'
  ])
})

test('any number of viewers cause one read of a panel in a few seconds', async () => {
  const ticket = { username: 'u', email: 'u@example.com', phone: '1', message: 'help', clientIp: '192.0.2.1' }
  const before = (await countOf('tickets')) ?? 0
  await addRow(shop.ctx, tickets, { ...ticket, state: 'open' })
  const shared = await Promise.all(OPERATOR_ROLES.map(role => as(role).get(routes.home.attention.path)))
  for (const reply of shared) expect(reply.data).toEqual(expect.arrayContaining([{ what: 'tickets', count: before }]))
  expect(await countOf('tickets')).toBe(before + 1)
})

test('one figure that cannot be read does not hide the others', async () => {
  const { db } = shop.ctx
  await db.execute(sql`alter table tickets rename to tickets_away`)
  try {
    const needs = await ask('attention')
    expect(needs.find(({ what }) => what === 'tickets')?.count).toBeNull()
    expect(needs.filter(({ count: found }) => found === null)).toHaveLength(1)
  } finally {
    await db.execute(sql`alter table tickets_away rename to tickets`)
  }
  expect(await countOf('tickets')).toBeTypeOf('number')
})
