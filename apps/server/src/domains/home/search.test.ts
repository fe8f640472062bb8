import { FOUND_OF_EACH, OPERATOR_ROLES, routes, type Found, type OperatorRole } from '@netlet/contract'
import { eq, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { QueryConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import type { TestClient } from '../../testing/client.ts'
import { rowsOfPlan, type PlanNode } from '../../testing/rows-visited.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { users } from '../accounts/tables.ts'
import { addGroup, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { activate, addCidr, reserve } from '../inventory/index.ts'
import { addRow, addRows } from '../../testing/rows.ts'
import { products, variants } from '../catalog/tables.ts'

/** Enough rows that the planner chooses what it would for a million. */
const MANY = 20_000

let shop: TestShop
const clients = new Map<OperatorRole, TestClient>()

beforeAll(async () => {
  shop = await startTestShop({})
  const { db } = shop.ctx
  for (const operatorRole of OPERATOR_ROLES) {
    const admin = await shop.admin({ username: operatorRole })
    await db.update(users).set({ operatorRole }).where(eq(users.id, admin.user.id))
    clients.set(operatorRole, admin)
  }
  await shop.customer({ username: 'zebra1', email: 'zebra1@example.com' })
  await shop.customer({ username: 'zebra12', email: 'zebra12@example.com' })
  const serverId = await addServer(db, 'edge-1')
  await addServer(db, 'edge-10')
  const groupId = await addGroup(db, 'all', [serverId])
  const rule = await addRule(db, 'Sport')
  await addRows(shop.ctx, products, [
    { platformId: '1', name: 'Quartz' },
    { platformId: '2', name: 'Quartz special' }
  ])
  await addRow(shop.ctx, variants, { productId: 1, platformId: '2', name: 'Here', price: '2.00' })
  // Old ones, which a walk through the newest rows does not reach.
  await db.execute(sql`insert into users (created_at, username, email, password_hash, invite_code)
    select now(), 'u' || n, 'u' || n || '@example.net', 'x', 'many' || n from generate_series(1, ${MANY}::int) n`)
  await db.execute(sql`insert into orders (created_at, order_id, user_id, product_id, variant_id, server_group_id, state, product_name,
      variant_name, quantity, cart_step, proxy_time, variant_price, acl_price, amount, rules, reserved_until, proxy_username,
      proxy_password, platform_order_number)
    select now(), 'NL-' || case when n = 5 then 'QQZEBRAQQQQ' else upper(substr(md5(n::text), 1, 16)) end, 5 + n % 2, 1, 1, 1,
      'timed_out', 'Plan', 'Here', 8, 8, 30, 2, 0.5, 20, array[1], now(), 'p' || n, 'x', '#' || 100000 + n
    from generate_series(1, ${MANY / 2}::int) n`)
  await vacuumFully(db, 'orders', 'users')
  const added = await inTransaction(db, addCidr, { cidr: '192.0.2.0/24', serverId })
  if (!added.ok) throw new Error(added.reason)
  await db.transaction(tx => reserve(tx, { orderId: 7, groupId, step: 8, rules: [rule], quantity: 8 }))
  await activate(db, 7)
}, 120_000)
afterAll(() => shop?.close())

const path = (q: string) => `${routes.home.search.path}?${new URLSearchParams({ q }).toString()}`
async function find(q: string, role: OperatorRole = 'owner'): Promise<Found> {
  const reply = await clients.get(role)?.get<Found>(path(q))
  expect(reply, q).toMatchObject({ code: 2000 })
  return reply?.data as Found
}
const nothing = { orders: [], users: [], servers: [], products: [], address: null }

describe('the search of the console', () => {
  test('finds an order by its id, its number, the platform’s number and a part of its id', async () => {
    const order = { id: 5, order_id: 'NL-QQZEBRAQQQQ', username: 'zebra12', state: 'timed_out' }
    for (const q of ['NL-QQZEBRAQQQQ', 'nl-qqzebraqqqq', '5', '#100005'])
      expect((await find(q)).orders, q).toMatchObject([{ ...order, exact: true }])
    expect((await find('QZEB')).orders).toMatchObject([{ ...order, exact: false }])
  })

  test('finds users, servers and products by a part, exact names first, a few of each', async () => {
    expect((await find('zebra1')).users).toMatchObject([
      { username: 'zebra1', exact: true },
      { username: 'zebra12', exact: false }
    ])
    expect((await find('ZEBRA12@example.com')).users).toMatchObject([{ username: 'zebra12', exact: true }])
    expect((await find('edge-1')).servers).toMatchObject([
      { name: 'edge-1', exact: true },
      { name: 'edge-10', exact: false }
    ])
    expect((await find('quartz')).products).toMatchObject([
      { product_name: 'Quartz', exact: true },
      { product_name: 'Quartz special', exact: false }
    ])
    expect((await find('example.net')).users).toHaveLength(FOUND_OF_EACH)
    expect((await find('u7')).users).toMatchObject([{ username: 'u7', exact: true }])
  })

  test('finds the holder of an address for those who may ask, with an entry in the audit log', async () => {
    const looks = () => shop.ctx.db.$count(auditLog, eq(auditLog.action, 'cidr.look_up'))
    const range = { id: 1, cidr: '192.0.2.0/24' }
    expect((await find('192.0.2.1', 'viewer')).address).toEqual({ address: '192.0.2.1', range, holders: [] })
    expect(await looks()).toBe(0)
    expect((await find('192.0.2.1', 'support')).address).toMatchObject({ range, holders: [{ id: 7 }] })
    expect(await looks()).toBe(1)
    const [entry] = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'cidr.look_up'))
    expect(entry).toMatchObject({ actorName: 'support', targetId: '192.0.2.1' })
    // No holder was named, so there is nothing to audit.
    expect((await find('192.0.2.200')).address).toMatchObject({ range, holders: [] })
    expect((await find('198.51.100.1')).address).toMatchObject({ range: null, holders: [] })
    expect((await find('192.0.2.0/28')).address).toMatchObject({ range, holders: [] })
    expect(await looks()).toBe(1)
  })

  test('names no order as the holder of an address that has ended, and is in its grace', async () => {
    const { db } = shop.ctx
    await db.execute(sql`update orders set ended_at = now() where id = 7`)
    try {
      expect((await find('192.0.2.1')).address).toMatchObject({ holders: [] })
    } finally {
      await db.execute(sql`update orders set ended_at = null where id = 7`)
    }
  })

  test('names to each role what its lists show it, and nothing to a customer', async () => {
    for (const role of OPERATOR_ROLES) expect((await find('zebra1', role)).users, role).toHaveLength(2)
    const customer = await shop.customer({ username: 'nosy' })
    expect(await customer.get(path('zebra'))).toMatchObject({ code: 403 })
    expect(await shop.visitor().get(path('zebra'))).toMatchObject({ code: 401 })
  })

  test('takes any text as nothing but a text, and refuses what no name is as long as', async () => {
    for (const q of [
      '%',
      '%%%',
      '___',
      '---',
      "'",
      "' or 1=1 --",
      '\\',
      '"',
      'NL-',
      '999999999999999',
      ':',
      '1.2.3',
      '😀'
    ])
      expect(await find(q), q).toEqual(nothing)
    for (const q of ['', '   ', 'x'.repeat(10_000), 'a\0b']) {
      const reply = await clients.get('owner')?.get(path(q))
      expect(reply?.code, q.slice(0, 9)).toBe(400)
    }
  })

  test('reads a few rows of indexes, for any number of orders and users', async () => {
    for (const q of [
      'NL-QQZEBRAQQQQ',
      'QQZEB',
      'zebra',
      'zebra1@example.com',
      'u7',
      '___',
      '---',
      '%%%',
      '#100005',
      '5',
      '192.0.2.1'
    ])
      expect(await rowsRead(q), q).toBeLessThan(5000)
  })
})

/** A statement as it was sent, with its values filled in. */
const again = (text: string, values: unknown[]): SQL =>
  sql.join(
    text
      .split(/(\$\d+)/)
      .map(part => (/^\$\d+$/.test(part) ? sql`${sql.param(values[Number(part.slice(1)) - 1])}` : sql.raw(part)))
  )

/** Rows that a search's statements visit in the tables that grow. */
async function rowsRead(q: string): Promise<number> {
  const pool = shop.ctx.db.$client
  const asked: { text: string; statement: SQL }[] = []
  const query = pool.query.bind(pool)
  Object.assign(pool, {
    query: (config: QueryConfig, values: unknown[]) => {
      if (/^(select|with)/.test(config.text) && /"(orders|users)"/.test(config.text))
        asked.push({ text: config.text, statement: again(config.text, values) })
      return query(config, values)
    }
  })
  try {
    await find(q)
  } finally {
    Object.assign(pool, { query })
  }
  return shop.ctx.db.transaction(async tx => {
    // With few rows, this tests whether an index can serve, not whether it is faster yet.
    await tx.execute(sql`set local enable_seqscan = off`)
    let rows = 0
    for (const { text, statement } of asked) {
      // Text searches have only a bitmap index.
      await tx.execute(sql.raw(`set local enable_indexscan = ${text.includes('materialized') ? 'off' : 'on'}`))
      const plan = await tx.execute<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        sql`explain (analyze, format json) ${statement}`
      )
      rows += rowsOfPlan(plan.rows[0]?.['QUERY PLAN'][0]?.Plan ?? {})
    }
    return rows
  })
}
