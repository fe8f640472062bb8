import type { ClientAccess, Order } from '@netlet/contract'
import { desc, eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { buy, proxiesOf, through } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack, type ShopProcess } from '../../testing/test-stack.ts'
import { agentUsers, orderAccess } from '../servers/tables.ts'
import { CHANGES_AN_HOUR } from '../orders/client-access.ts'

let stack: TestStack
let shop: ShopProcess
let buyer: TestClient
let admin: TestClient
let order: Order

beforeAll(async () => {
  stack = await startTestStack({ range: '127.27.0.0/28', ruleCount: 1 })
  shop = await stack.startShop()
  buyer = await stack.customer(shop.url, 'lister1')
  admin = await stack.admin(shop.url, 'boss1')
  order = await buy(stack, buyer, 8, stack.rules)
}, 120_000)
afterAll(() => stack?.close())

const path = (call = 'client_access', id = order.id) => `/api/orders/order_list/${id}/${call}/`
const read = async (id = order.id) => (await buyer.get<ClientAccess>(path('client_access', id))).data
const set = (form: object, id = order.id) => buyer.put<ClientAccess>(path('client_access', id), form)
/** Sets an access, and has the agents confirm it. */
async function apply(form: object, id = order.id): Promise<ClientAccess> {
  const put = await set(form, id)
  expect(put.code, put.msg).toBe(2000)
  return stack.eventually('the agent to know of it', async () => {
    const now = await read(id)
    return now.is_pending ? null : now
  })
}

const idle = (what: string) =>
  stack.eventually(`${what} to end`, async () => {
    const row = (await buyer.get<{ data: Order[] }>('/api/orders/order_list/')).data.data.find(
      one => one.id === order.id
    )
    return row?.task === null ? row : null
  })

/** What a client of 127.0.0.1 gets at the order's first address, with its password or without one. */
async function status(withPassword: boolean, id = order.id): Promise<number> {
  const [proxy] = await proxiesOf(buyer, id)
  if (!proxy) throw new Error('no proxy')
  return through(withPassword ? proxy : { ...proxy, username: '', password: '' }, `${stack.platform.url}/echo`)
}

test('an order begins with the password, and shows the address that its customer comes from', async () => {
  expect(await read()).toMatchObject({
    access: 'password',
    client_ips: [],
    changed_at: null,
    your_address: '127.0.0.1'
  })
  expect(await status(false)).toBe(407)
})

test('a list lets its clients in at every address of the order, until it is changed', async () => {
  const set = await apply({ access: 'address', client_ips: ['127.0.0.1', ' 127.0.0.0/24 ', '::ffff:127.0.0.1', ''] })
  expect(set).toMatchObject({ access: 'address', client_ips: ['127.0.0.0/24', '127.0.0.1/32'] })
  expect([await status(false), await status(true)]).toEqual([200, 200])
  await apply({ access: 'password_and_address', client_ips: ['127.0.0.1'] })
  expect([await status(false), await status(true)]).toEqual([407, 200])
  // The shop would be refused, and would show working proxies as broken.
  expect(await buyer.get(path('check_proxy'))).toMatchObject({ status: 409, data: { reason: 'check_needs_address' } })
  await apply({ access: 'password_and_address', client_ips: ['192.0.2.1'] })
  expect([await status(false), await status(true)]).toEqual([407, 407])
  await apply({ access: 'password', client_ips: ['192.0.2.1'] })
  expect((await read()).client_ips).toEqual([])
  expect([await status(false), await status(true)]).toEqual([407, 200])
  const [entry] = await stack.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, 'order.client_access'))
    .orderBy(auditLog.id)
  expect(entry).toMatchObject({ targetId: String(order.id), before: { access: 'password', client_ips: [] } })
})

test.each([
  [{ access: 'address', client_ips: [] }, 'enter_client'],
  [{ access: 'password_and_address', client_ips: ['  '] }, 'enter_client'],
  [{ access: 'address', client_ips: ['0.0.0.0/0'] }, 'wide_client'],
  [{ access: 'address', client_ips: ['198.51.100.0/23'] }, 'wide_client'],
  [{ access: 'address', client_ips: ['2a00::/47'] }, 'wide_client'],
  [{ access: 'address', client_ips: ['198.51.100.7/24'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['1'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['0177.0.0.1'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['fe80::1%eth0'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['::ffff:1.2.3.4/120'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['1.2.3.4/24/1'] }, 'invalid_client'],
  [{ access: 'address', client_ips: ['224.0.0.1'] }, 'invalid_client'],
  [{ access: 'address', client_ips: Array.from({ length: 33 }, (_, n) => `198.51.100.${n}`) }, 'invalid'],
  [{ access: 'anybody', client_ips: ['198.51.100.1'] }, 'invalid']
])('form %# is refused', async (form, reason) => {
  expect(await set(form)).toMatchObject({ status: 400, data: reason === 'invalid' ? {} : { reason } })
})

test('all lines with the same mistake are named at once', async () => {
  const refused = await set({ access: 'address', client_ips: ['nonsense', '192.0.2.9', '0.0.0.0/0', '192.0.2.300'] })
  const params = { line: 'nonsense, 192.0.2.300' }
  expect(refused).toMatchObject({ status: 400, data: { reason: 'invalid_client', params } })
})

test('a stale form changes nothing, the same again sends nothing, and an order of another is not there', async () => {
  const opened = await read()
  const first = await apply({ access: 'address', client_ips: ['2001:DB8:0::5'], version: opened.version })
  expect(first.client_ips).toEqual(['2001:db8::5/128'])
  const stale = await set({ access: 'address', client_ips: ['192.0.2.9'], version: opened.version })
  expect(stale).toMatchObject({ status: 409, data: { reason: 'stale', changed: ['client_ips'] } })
  const generations = () => stack.ctx.db.select({ at: agentUsers.generation }).from(agentUsers)
  const before = await generations()
  await apply({ access: 'address', client_ips: ['2001:db8::5/128'] })
  expect(await generations()).toEqual(before)
  const stranger = await stack.customer(shop.url, 'stranger1')
  expect(await stranger.get(path())).toMatchObject({ status: 404 })
  expect(await stranger.put(path(), { access: 'password' })).toMatchObject({ status: 404 })
  expect((await admin.get<ClientAccess>(path())).data.client_ips).toEqual(['2001:db8::5/128'])
})

test('a new password and other addresses keep it; the next order of the old addresses does not get it', async () => {
  await apply({ access: 'address', client_ips: ['127.0.0.1'] })
  const [before] = await proxiesOf(buyer, order.id)
  await buyer.post(path('reset_proxy_password'), {})
  expect((await idle('the reset')).task_fail).toBeNull()
  expect(await status(false)).toBe(200)
  await admin.post(path('reset_proxy'), {})
  expect((await idle('the change')).task_fail).toBeNull()
  const [after] = await proxiesOf(buyer, order.id)
  expect(after?.ip).not.toBe(before?.ip)
  expect(await status(false)).toBe(200)

  const next = await buy(stack, buyer, 8, stack.rules)
  expect((await proxiesOf(buyer, next.id))[0]?.ip).toBe(before?.ip)
  expect(await read(next.id)).toMatchObject({ access: 'password', client_ips: [] })
  expect([await status(false, next.id), await status(true, next.id)]).toEqual([407, 200])
}, 60_000)

const OTHER = 999_999
/** Another order of the same addresses, which lets these clients in. */
async function another(clients: string): Promise<void> {
  const { db } = stack.ctx
  const [mine] = await db.select().from(agentUsers).where(eq(agentUsers.orderId, order.id))
  if (!mine) throw new Error('the order is on no agent')
  await db
    .insert(agentUsers)
    .values({ ...mine, orderId: OTHER, username: 'another', generation: 1, appliedGeneration: 1 })
  const list = { access: 'address' as const, clientIps: [clients] }
  await db
    .insert(orderAccess)
    .values({ orderId: OTHER, ...list, attemptsSince: stack.ctx.now() })
    .onConflictDoUpdate({ target: orderAccess.orderId, set: list })
}

test('a client that another order of the same addresses lists is refused, if it would be let in by address alone', async () => {
  const { db } = stack.ctx
  await another('198.51.100.0/24')
  const taken = await set({ access: 'address', client_ips: ['127.0.0.1', '198.51.100.7'] })
  expect(taken).toMatchObject({
    status: 409,
    data: { reason: 'client_listed_elsewhere', params: { line: '198.51.100.7/32' } }
  })
  await apply({ access: 'password_and_address', client_ips: ['198.51.100.7'] })
  await db.delete(agentUsers).where(eq(agentUsers.orderId, OTHER))
  await apply({ access: 'address', client_ips: ['198.51.100.7'] })
})

test('an order that is given addresses loses the clients that another order of these addresses lists', async () => {
  const { db } = stack.ctx
  await apply({ access: 'address', client_ips: ['127.0.0.1', '198.51.100.7'] })
  await another('198.51.100.0/24')
  // A delivery and a change of addresses send the agents their state again.
  const reset = async () => {
    expect((await admin.post(path('reset_proxy_password'), {})).code).toBe(2000)
    expect((await idle('the reset')).task_fail).toBeNull()
  }
  await reset()
  expect(await read()).toMatchObject({ access: 'address', client_ips: ['127.0.0.1/32'] })
  expect(await status(false)).toBe(200)
  await db
    .update(orderAccess)
    .set({ clientIps: ['127.0.0.0/24'] })
    .where(eq(orderAccess.orderId, OTHER))
  await reset()
  expect(await read()).toMatchObject({ access: 'password', client_ips: [] })
  const [entry] = await db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, 'order.client_access'))
    .orderBy(desc(auditLog.id))
    .limit(1)
  expect(entry).toMatchObject({
    targetId: String(order.id),
    before: { access: 'address', client_ips: ['127.0.0.1/32'] },
    after: { access: 'password', client_ips: [] }
  })
  await db.delete(agentUsers).where(eq(agentUsers.orderId, OTHER))
}, 60_000)

test('so many changes an hour, refused ones too, then none', async () => {
  const { db } = stack.ctx
  await db.update(orderAccess).set({ attempts: CHANGES_AN_HOUR - 1 })
  expect((await set({ access: 'password', version: 'stale' })).status).toBe(409)
  expect(await set({ access: 'password' })).toMatchObject({ status: 429, data: { reason: 'client_changes_limit' } })
  await db.update(orderAccess).set({ attemptsSince: sql`now() - interval '61 minutes'` })
  expect((await set({ access: 'password' })).status).toBe(200)
})
