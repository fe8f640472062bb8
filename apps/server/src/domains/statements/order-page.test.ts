import type { OrderPayment, OrderProxy, Page, TimelineEntry } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { paidEvent } from '../../testing/buying.ts'
import { mails } from '../mail/tables.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { isAbout } from './order-timeline.ts'
import { tell } from '../payments/event-row.fixture.ts'
import { addRow, addRows } from '../../testing/rows.ts'
import { auditLog } from '../../infra/tables.ts'

let world: OrderShop
let boss: Buyer
let buyer: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  boss = await world.admin('boss')
  buyer = await world.customer('buyer')
}, 120_000)
afterAll(() => world?.close())

type Timeline = { data: TimelineEntry[]; next: string | null }
const path = (id: number, rest: string) => `/api/orders/order_list/${id}/${rest}`
const timelineOf = async (id: number, query = '') => (await boss.get<Timeline>(path(id, `timeline/${query}`))).data
const kindsOf = ({ data }: Timeline) => data.map(({ source, kind }) => `${source} ${kind}`)

const ALL = { '11': 8, '901': 8 }
async function bought() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: order.amount, lines: ALL })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  return { order: await world.row(order.id), paid }
}

test('the timeline of an order has its history, what the platform told, and who of the operators did what', async () => {
  const { order, paid } = await bought()
  const extended = await boss.post(path(order.id, 'update_proxy_expired_at/'), {
    expired_at: world.shop.ctx.now().getTime() + 90 * 86_400_000
  })
  expect(extended.code).toBe(2000)
  await tell(world, 'refunds/create', {
    id: 990_001,
    order_id: paid.id,
    transactions: [{ kind: 'refund', status: 'success', amount: '1.00', currency: 'USD' }]
  })
  const timeline = await timelineOf(order.id)
  expect(timeline.next).toBeNull()
  const kinds = kindsOf(timeline)
  for (const kind of ['order placed', 'order pay', 'order deliver_all', 'platform settled', 'platform partly_refunded'])
    expect(kinds).toContain(kind)
  const set = timeline.data.filter(({ kind }) => kind === 'expiry_set' || kind === 'order.extend')
  expect(set).toMatchObject([{ source: 'order', kind: 'expiry_set', actor: 'boss', viewed_as: null }])
  expect(set[0]?.detail).not.toHaveProperty('by')
  expect(timeline.data.find(({ kind }) => kind === 'placed')?.actor).toBeNull()
  const times = timeline.data.map(({ at }) => Date.parse(at))
  expect(times).toEqual(times.toSorted((a, b) => b - a))
  const settled = timeline.data.find(({ kind }) => kind === 'settled')
  expect(settled?.detail).toMatchObject({ topic: 'orders/paid', platform_order: paid.name })
})

test('an act of an operator that the history has nothing of stands for itself', async () => {
  const { order } = await bought()
  const act = { actorName: 'boss', targetId: String(order.id) }
  await addRows(world.shop.ctx, auditLog, [
    { ...act, action: 'order.look_into', targetType: 'order' },
    { ...act, action: 'user.edit', targetType: 'user' }
  ])
  const { data } = await timelineOf(order.id)
  expect(data.filter(({ source }) => source === 'admin')).toMatchObject([{ kind: 'order.look_into', actor: 'boss' }])
})

test('the timeline has the mails about the order and its payments, and none about others', async () => {
  const { order, paid } = await bought()
  const keys = [
    [`received:${order.id}`, 'order-received', 'sent'],
    [`receipt:${paid.id}`, 'payment-received', 'failed'],
    [`outage:9:${order.id}`, 'server-outage', 'sent'],
    [`traffic:${order.id}:80:1000:5`, 'traffic-used', 'sent'],
    [`traffic:${order.id}1:${order.id}:1000:5`, 'traffic-used', 'sent'],
    [`received:${order.id}1`, 'order-received', 'sent'],
    [`receipt:${paid.id}1`, 'payment-received', 'sent'],
    [`outage:${order.id}:9`, 'server-outage', 'sent'],
    [`email-changed:${order.id}`, 'email-changed', 'sent']
  ] as const
  const mail = { to: buyer.user.email, kind: 'payments', language: 'en', jobId: 'j' } as const
  for (const [key, template, state] of keys)
    await addRow(world.shop.ctx, mails, { ...mail, key, template, state, carried: state === 'failed' ? {} : null })
  const entries = (await timelineOf(order.id)).data.filter(({ source }) => source === 'mail')
  expect(entries.map(({ kind, can_resend }) => [kind, can_resend])).toEqual([
    ['traffic-used', false],
    ['server-outage', false],
    ['payment-received', true],
    ['order-received', false]
  ])
  expect(entries.find(({ kind }) => kind === 'payment-received')?.detail).toMatchObject({
    state: 'failed',
    to: buyer.user.email
  })
})

test('the timeline comes in pages that leave nothing out and tell nothing twice', async () => {
  const { order } = await bought()
  const whole = await timelineOf(order.id)
  const paged: TimelineEntry[] = []
  for (let next: string | null = ''; next !== null;) {
    const page: Timeline = await timelineOf(order.id, `?limit=2${next && `&earlier=${next}`}`)
    expect(page.data.length).toBeLessThanOrEqual(2)
    paged.push(...page.data)
    next = page.next
  }
  expect(paged).toEqual(whole.data)
  expect((await boss.get(path(order.id, 'timeline/?earlier=x'))).status).toBe(400)
  expect((await boss.get(path(order.id, 'timeline/?limit=201'))).status).toBe(400)
})

test('there is no page of an order that does not exist, nor for a customer', async () => {
  for (const part of ['', 'timeline/']) expect((await boss.get(path(999_999, part))).status).toBe(404)
  const { order } = await bought()
  for (const part of ['', 'timeline/', 'proxies/', 'payments/'])
    expect((await buyer.get(path(order.id, part))).status).toBe(403)
})

test("an order's addresses are told with their server, without a password, those given back only where asked for", async () => {
  const { order } = await bought()
  const proxies = async (query: string) => (await boss.get<Page<OrderProxy>>(path(order.id, `proxies/${query}`))).data
  const page = await proxies('?limit=3&retired=0')
  expect(page).toMatchObject({ total: 8, limit: 3 })
  expect(page.data[0]).toMatchObject({ state: 'live', server_status: 'active', status: null })
  expect(page.data[0]?.server).toContain('agent of')
  expect(JSON.stringify(page)).not.toContain(order.proxyPassword)
  expect((await proxies(`?search=${page.data[1]?.ip}`)).data.map(({ id }) => id)).toEqual([page.data[1]?.id])
  await world.shop.ctx.db.execute(sql`update proxies set state = 'retired' where id = ${page.data[0]?.id}`)
  expect((await proxies('?retired=1')).data.map(({ id }) => id)).toEqual([page.data[0]?.id])
  expect((await proxies('?retired=0')).total).toBe(7)
  expect((await proxies('')).total).toBe(8)
})

test('the money of an order: what was paid for, what was refunded, what counts, and its page on the platform', async () => {
  const { order, paid } = await bought()
  await tell(world, 'refunds/create', {
    id: 990_002,
    order_id: paid.id,
    transactions: [{ kind: 'refund', status: 'success', amount: '1.00', currency: 'USD' }]
  })
  const { data } = await boss.get<Page<OrderPayment>>(path(order.id, 'payments/'))
  expect(data.data).toMatchObject([
    {
      kind: 'purchase',
      state: 'accepted',
      charged: order.amount,
      amount: order.amount,
      discount: '0.00',
      refunded_amount: '1.00',
      counts: (Number(order.amount) - 1).toFixed(2),
      refunds: [{ kind: 'refund', amount: '1.00', reversed_at: null }]
    }
  ])
  expect(data.data[0]?.lines.map(({ quantity }) => quantity)).toEqual([8, 8])
  expect(data.data[0]?.platform_url).toMatch(new RegExp(`^http.*/admin/orders/${paid.id}$`))
  await tell(world, 'orders/paid', paidEvent({ publicId: order.publicId, amount: order.amount, lines: ALL }))
  const again = (await boss.get<Page<OrderPayment>>(path(order.id, 'payments/'))).data.data
  expect(again.map(({ state, counts }) => [state, counts])).toContainEqual(['held', '0.00'])
})

test('days are credited once with their reason, to the end that was shown, and only while its time runs', async () => {
  const { order } = await bought()
  const credit = (body: object) => boss.post(path(order.id, 'credit/'), body)
  const asked = { days: '3', note: 'A slow night', ends_at: order.expiredAt?.toISOString() }
  const [first, second] = await Promise.all([credit(asked), credit(asked)])
  expect([first, second].map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  const later = new Date((order.expiredAt?.getTime() ?? 0) + 3 * 86_400_000)
  expect((await world.row(order.id)).expiredAt).toEqual(later)
  expect((await timelineOf(order.id)).data.find(({ kind }) => kind === 'credited')).toMatchObject({
    actor: 'boss',
    detail: { days: 3, reason: 'A slow night' }
  })
  for (const wrong of [{ days: 0 }, { days: 367 }, { days: '' }, { note: ' ' }])
    expect((await credit({ ...asked, ...wrong })).status).toBe(400)
  const unpaid = await world.place(buyer)
  expect((await boss.post(path(unpaid.id, 'credit/'), asked)).code).toBe(409)
})

test('mails about an order stay in its timeline when the customer has another address', async () => {
  const { db } = world.shop.ctx
  const { order, paid } = await bought()
  const now = world.shop.ctx.now()
  const about = [
    `received:${order.id}`,
    `reminder:${order.id}:last:${now.toISOString()}`,
    `outage:3:${order.id}`,
    `credited:3:${order.id}`,
    `receipt:${paid.id}`,
    `refunded:${paid.id}:${now.toISOString()}`
  ]
  const others = [`received:${order.id}1`, `outage:${order.id}:3`, `code:${order.id}`, `receipt:${paid.id}1`]
  const mail = {
    template: 'test',
    kind: 'payments',
    language: 'en',
    state: 'sent',
    jobId: 'x',
    claimedAt: now
  } as const
  await db.delete(mails)
  await addRows(
    world.shop.ctx,
    mails,
    [...about, ...others].map(key => ({ ...mail, key, to: 'once@example.com' }))
  )
  const timeline = await timelineOf(order.id, '?limit=100')
  expect(timeline.data.filter(({ source }) => source === 'mail')).toHaveLength(about.length)
})

test('the mails about an order are read by index, among any number of others', async () => {
  const { db } = world.shop.ctx
  const plan = await db.transaction(async tx => {
    await tx.execute(sql`insert into mails (created_at, key, "to", template, kind, language, job_id, claimed_at)
      select now(), 'received:' || n, 'a@example.com', 'test', 'payments', 'en', 'x', now() from generate_series(1000000, 1020000) n`)
    await tx.execute(sql`analyze mails`)
    const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain select id from mails where ${isAbout(7, ['5001', '5002'])}`
    )
    await tx.execute(sql`delete from mails where job_id = 'x'`)
    return rows.map(row => row['QUERY PLAN']).join('\n')
  })
  expect(plan).not.toContain('Seq Scan on mails')
  expect(plan).toMatch(/mails_about[^_][^]*mails_about_outage/)
})
