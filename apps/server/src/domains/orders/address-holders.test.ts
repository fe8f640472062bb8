import type { AddressLease, ReplyOf, routes } from '@netlet/contract'
import { asc, eq, like, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { activate, addCidr, release, reserve } from '../inventory/index.ts'
import { leaseBlocks, leases } from '../inventory/tables.ts'
import { hasOpenMoney } from '../inbox/index.ts'
import { ordersPaidBy } from '../payments/index.ts'
import { orderRoutes } from './index.ts'
import { orderEvents, orders } from './tables.ts'
import { addRow } from '../../testing/rows.ts'

type Holders = ReplyOf<typeof routes.inventory.addressHolders>
type Page = { data: AddressLease[]; total: number; next: string | null }

let shop: TestShop
let admin: TestClient
let ids: number[]
let labels: string[]
let sport: number
let news: number

const march = (day: number) => `2026-03-${String(day).padStart(2, '0')}T12:00:00.000Z`

/** Moves an order's lease in time. */
async function dated(orderId: number, from: string, to: string | null, paid = true) {
  const { db } = shop.ctx
  const [lease] = await db.select().from(leases).where(eq(leases.orderId, orderId))
  // A trigger protects the history from manual changes.
  await db.transaction(async tx => {
    await tx.execute(sql`set local session_replication_role = replica`)
    const [leasedAt, releasedAt] = [new Date(from), to === null ? null : new Date(to)]
    await tx
      .update(leases)
      .set({ createdAt: leasedAt, activatedAt: paid ? leasedAt : null, releasedAt })
      .where(eq(leases.orderId, orderId))
    await tx
      .update(leaseBlocks)
      .set({ leasedAt, releasedAt })
      .where(eq(leaseBlocks.leaseId, lease?.id ?? 0))
  })
}

beforeAll(async () => {
  shop = await startTestShop({ routes: (mount, ctx) => orderRoutes(mount, ctx, { ordersPaidBy, hasOpenMoney }) })
  admin = await shop.admin({ username: 'boss' })
  const { db } = shop.ctx
  const serverId = await addServer(db, 'edge')
  const groupId = await addGroup(db, 'all', [serverId])
  sport = await addRule(db, 'Sport')
  news = await addRule(db, 'News')
  const added = await inTransaction(db, addCidr, { cidr: '192.0.2.0/24', serverId })
  if (!added.ok) throw new Error(added.reason)
  ids = await addOrders(db, groupId, 5)
  const rows = await db.select({ label: orders.publicId }).from(orders).orderBy(asc(orders.id))
  labels = rows.map(row => row.label)
  const take = (nth: number, rule: number) =>
    db.transaction(tx => reserve(tx, { orderId: ids[nth] ?? 0, groupId, step: 8, rules: [rule], quantity: 8 }))
  const paidTerm = async (nth: number, rule: number, from: string, to: string | null) => {
    await take(nth, rule)
    await activate(db, ids[nth] ?? 0)
    if (to) await release(db, { orderId: ids[nth] ?? 0 })
    await dated(ids[nth] ?? 0, from, to)
  }
  // In turn on 192.0.2.0/29 under one rule; beside the second one an order under another rule.
  await paidTerm(0, sport, march(1), march(5))
  await paidTerm(1, sport, march(8), march(12))
  await paidTerm(2, news, march(9), null)
  // Reserved, and never paid.
  await take(3, sport)
  await release(db, { orderId: ids[3] ?? 0 })
  await dated(ids[3] ?? 0, march(14), march(15), false)
  await paidTerm(4, sport, march(20), null)
})
afterAll(() => shop?.close())

const ask = (query: string) => admin.get<Holders>(`/api/servers/addresses/?${query}`)
const at = async (day: number, address = '192.0.2.3') => (await ask(`address=${address}&at=${march(day)}`)).data
const names = (held: AddressLease[]) => held.map(({ order }) => order)

describe('who had an address', () => {
  test('is told with order, customer, rules and term, and who was before and after', async () => {
    const reply = await at(3)
    expect(reply).toMatchObject({
      address: '192.0.2.3',
      at: march(3),
      range: { cidr: '192.0.2.0/24' },
      server: { name: 'edge' },
      before: null,
      after: { order: labels[1], leased_at: march(8) }
    })
    expect(reply.held).toMatchObject([
      {
        address: '192.0.2.0/29',
        order_id: ids[0],
        order: labels[0],
        acls: [{ id: sport, name: 'Sport' }],
        leased_at: march(1),
        active_from: march(1),
        released_at: march(5)
      }
    ])
    expect(reply.held[0]?.username).toBeTruthy()
    expect(JSON.stringify(reply)).not.toMatch(/passw|@example/)
  })

  test('names everyone who had it under rules of their own, and no one in between', async () => {
    const two = await at(10)
    expect(new Set(names(two.held))).toEqual(new Set([labels[1], labels[2]]))
    expect([two.before?.order, two.after?.order]).toEqual([labels[0], labels[3]])
    const none = await at(6)
    expect(none.held).toEqual([])
    expect([none.before?.order, none.after?.order]).toEqual([labels[0], labels[1]])
  })

  test('begins with the instant of the lease and ends before that of its release', async () => {
    expect(names((await at(1)).held)).toEqual([labels[0]])
    expect((await at(5)).held).toEqual([])
  })

  test('is now without an instant', async () => {
    const { data } = await ask('address=192.0.2.3')
    expect(new Set(names(data.held))).toEqual(new Set([labels[2], labels[4]]))
  })

  test('names no one for an address that is not ours', async () => {
    expect(await at(3, '198.51.100.7')).toMatchObject({
      held: [],
      before: null,
      after: null,
      range: null,
      server: null
    })
  })

  test.each(['x', '192.0.2.3/33', '192.0.2.0/24', ''])('refuses %j as an address', async address => {
    expect((await ask(`address=${address}`)).code).toBe(400)
  })

  test('has an answer to a complaint in both languages, without the customer', async () => {
    const { texts, held } = await at(3)
    expect(texts.en).toContain(`At 2026-03-03 12:00:00 UTC this address was leased to one customer of ours:`)
    expect(texts.en).toContain(`Reference ${labels[0]}: from 2026-03-01 12:00:00 UTC until 2026-03-05 12:00:00 UTC`)
    expect(texts['zh-CN']).toContain(`编号 ${labels[0]}：2026-03-01 12:00:00 UTC 至 2026-03-05 12:00:00 UTC`)
    const text = texts.en + texts['zh-CN']
    expect(text.replaceAll(labels[0] ?? '', '')).not.toContain(held[0]?.username)
    expect((await at(10)).texts.en).toContain('leased under 2 orders, each for other sites')
    // A reservation that was never paid used nothing.
    expect((await at(14)).texts.en).toContain(`Reference ${labels[2]}`)
    expect((await at(14)).texts.en).not.toContain(`Reference ${labels[3]}`)
    expect((await at(3, '198.51.100.7')).texts.en).toContain('not leased to any customer')
  })

  test('is not looked up without an entry in the audit log', async () => {
    await at(4)
    const entries = await shop.ctx.db.select().from(auditLog).where(like(auditLog.action, 'cidr.look_up'))
    expect(entries.at(-1)).toMatchObject({ actorName: 'boss', targetId: '192.0.2.3', after: { at: march(4) } })
  })
})

describe('an address that is held for an order after its end', () => {
  let order: number
  let label: string
  const told = async (day: number) => (await ask(`address=198.18.0.1&at=${march(day)}`)).data

  beforeAll(async () => {
    const { db } = shop.ctx
    const serverId = await addServer(db, 'grace')
    const groupId = await addGroup(db, 'grace', [serverId])
    const rule = await addRule(db, 'Shoes')
    await inTransaction(db, addCidr, { cidr: '198.18.0.0/29', serverId })
    order = (await addOrders(db, groupId, 1))[0] ?? 0
    const [row] = await db.select({ label: orders.publicId }).from(orders).where(eq(orders.id, order))
    label = row?.label ?? ''
    await db.transaction(tx => reserve(tx, { orderId: order, groupId, step: 8, rules: [rule], quantity: 8 }))
    await activate(db, order)
    await dated(order, march(1), null)
    // Not served from the 5th until the renewal on the 6th, and since the 10th.
    const detail = { ended_at: march(5), resumed_at: march(6) }
    await addRow(shop.ctx, orderEvents, { orderId: order, kind: 'revive', detail })
    await db
      .update(orders)
      .set({ endedAt: new Date(march(10)) })
      .where(eq(orders.id, order))
  })

  test('was leased until its proxies stopped, independent of its grace', async () => {
    expect(await told(4)).toMatchObject({ held: [{ order: label, stopped_at: march(5) }] })
    const { held, texts } = await told(8)
    expect(held).toMatchObject([{ stopped_at: march(10), released_at: null }])
    expect(texts.en).toContain(`Reference ${label}: from 2026-03-01 12:00:00 UTC until 2026-03-10 12:00:00 UTC`)
    expect(texts['zh-CN']).toContain(`编号 ${label}：2026-03-01 12:00:00 UTC 至 2026-03-10 12:00:00 UTC`)
  })

  test.each([5, 10, 12])('is not named in a complaint about the %i. of the month', async day => {
    const { held, texts } = await told(day)
    expect(names(held)).toEqual([label])
    expect(texts.en).toContain('this address was not leased to any customer of ours')
    expect(texts['zh-CN']).toContain('该地址未租给我们的任何客户')
  })
})

describe('who had addresses of a range', () => {
  const list = (query: string) => admin.get<Page>(`/api/servers/addresses/leases/?${query}`)

  test('is told for a span of time, newest first, a page at a time', async () => {
    const { data } = await list(`address=192.0.2.0/24&from=${march(6)}&to=${march(10)}`)
    expect(names(data.data)).toEqual([labels[2], labels[1]])
    expect((await list('address=192.0.2.0/28')).data.total).toBe(5)
    expect((await list('address=192.0.2.8/29')).data.total).toBe(0)
    expect((await list('address=192.0.2.4')).data.total).toBe(5)
    expect((await list('address=198.51.100.0/24')).data.total).toBe(0)
    expect((await list('address=192.0.2.1/24')).code).toBe(400)
  })

  test('is a file, and each look at a range stands in the audit log once', async () => {
    const looks = () => shop.ctx.db.$count(auditLog, eq(auditLog.targetId, '192.0.2.0/24'))
    const before = await looks()
    await list('address=192.0.2.0/24&limit=2')
    await list('address=192.0.2.0/24&limit=2&offset=2')
    expect(await looks()).toBe(before + 2)
    const reply = await admin.fetch('/api/servers/addresses/leases/?address=192.0.2.0/24&format=csv')
    const lines = (await reply.text()).trim().split('\r\n')
    expect(lines).toHaveLength(6)
    expect(lines[0]).toContain('address,order_id,order,user_id,username,acls,leased_at,active_from,released_at')
    expect(lines[1]).toContain(`192.0.2.0/29,${ids[4]},${labels[4]}`)
    expect(await looks()).toBe(before + 3)
  })

  test('leaves no page and no file without an entry: a cursor serves only the look that it was given for', async () => {
    const looks = () => shop.ctx.db.$count(auditLog, like(auditLog.action, 'cidr.look_up'))
    const first = (await list('address=192.0.2.0/28&limit=2')).data
    const before = await looks()
    const second = (await list(`address=192.0.2.0/28&limit=2&after=${first.next}`)).data
    expect(names(second.data)).toEqual([labels[2], labels[1]])
    expect((await list(`address=192.0.2.0/28&limit=2&after=${second.next}`)).data.next).toBeNull()
    expect(await looks()).toBe(before)

    const forged = Buffer.from(JSON.stringify(['addresses', 'id', 'desc', '999999', 999_999])).toString('base64url')
    const other = await shop.admin({ username: 'other' })
    const leases = '/api/servers/addresses/leases/'
    for (const reply of [
      await list(`address=192.0.2.0/28&after=${forged}`),
      await list(`address=192.0.2.3&after=${first.next}`),
      await list(`address=192.0.2.0/28&from=${march(2)}&after=${first.next}`),
      await list(`address=192.0.2.0/28&after=${(first.next ?? '').slice(1)}`)
    ])
      expect(reply).toMatchObject({ status: 400, data: { errors: { after: expect.any(String) as string } } })
    expect(await looks()).toBe(before)

    // If an operator passes a link on, the next operator's look is audited.
    expect((await other.get(`${leases}?address=192.0.2.0/28&after=${first.next}`)).status).toBe(200)
    expect(await looks()).toBe(before + 1)
    for (const [nth, query] of ['offset=1', `after=${first.next}`].entries()) {
      const file = await admin.fetch(`${leases}?address=192.0.2.0/28&format=csv&${query}`)
      expect((await file.text()).split('\r\n').length).toBeGreaterThan(3)
      expect(await looks()).toBe(before + nth + 2)
    }
  })
})

test('the history of a range is read by its index, independent of other ranges', async () => {
  const { db } = shop.ctx
  await db.transaction(async tx => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`insert into lease_blocks (lease_id, chunk_id, start, length, rules, leased_at, released_at)
      select 1, 100 + n % 1000, 0, 8, '{1}', now(), now() from generate_series(1, 20000) n`)
    await tx.execute(sql`analyze lease_blocks`)
    const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain select id from lease_blocks where chunk_id = 101 order by id desc limit 10`
    )
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain('lease_blocks_history')
    await tx.execute(sql`delete from lease_blocks where chunk_id >= 100`)
  })
})
