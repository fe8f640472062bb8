import type { Order } from '@netlet/contract'
import { eq, gt, max } from '../infra/db/drizzle.ts'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SESSION_COOKIE } from '../domains/accounts/index.ts'
import { sessions, users } from '../domains/accounts/tables.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../domains/webhooks/tables.ts'
import { MINUTE } from '../infra/clock.ts'
import { addSession } from '../testing/session.ts'
import { describeCalls, type ApiCall } from './calls.ts'
import { injectEndless, textOf } from './endless.fixture.ts'
import { exampleOf } from './schemas.ts'
import { OWNED } from './owned.matrix.ts'
import { tickets } from '../domains/support/tables.ts'
import { MATRIX } from './roles.matrix.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { addRow } from '../testing/rows.ts'

const ROLES = [
  'visitor',
  'customer',
  'other',
  'banned',
  'admin',
  'operations',
  'support',
  'viewer',
  'read',
  'renew',
  'adminRead',
  'adminRenew'
] as const
const KEYS = ['read', 'renew', 'adminRead', 'adminRenew'] as const
type Key = (typeof KEYS)[number]
const isKey = (role: string): role is Key => (KEYS as readonly string[]).includes(role)
type Role = (typeof ROLES)[number]

const rows = MATRIX.split('\n')
  .map(line => /^((?:GET|POST|PUT|DELETE) \S+)\s+(.*\S)\s*$/.exec(line))
  .filter(match => match !== null)
  .map(([, call = '', outcomes = '']) => ({ call, outcomes: outcomes.split(/\s+/) }))
const { calls, components } = describeCalls()
const inject = (app: FastifyInstance, options: InjectOptions) => app.inject(options)
const nameOf = ({ method, path }: ApiCall) => `${method} ${path}`

test('every call of the contract has its row, and no row is left over', () => {
  expect(rows.map(row => row.call).toSorted()).toEqual(calls.map(nameOf).toSorted())
  for (const { call, outcomes } of rows) {
    expect(outcomes, call).toHaveLength(ROLES.length)
    for (const outcome of outcomes) expect(['in', '401', '403', '404'], call).toContain(outcome)
  }
})

describe('who gets past authorisation', () => {
  let shop: StockedShop
  let people: Record<'customer' | 'other' | 'banned' | 'admin' | 'operations' | 'support' | 'viewer', Buyer>
  let order: { id: number; publicId: string }
  let othersOrder: { id: number; publicId: string }
  /** Keys by whose they are and what they may do. */
  let keys: Record<Key, string>
  /** The last one of those that people signed in with. */
  let newestSession: number

  beforeAll(async () => {
    shop = await startStockedShop()
    people = {
      customer: await shop.customer({ username: 'custom1' }),
      other: await shop.customer({ username: 'other1' }),
      banned: await shop.customer({ username: 'banned1' }),
      admin: await shop.admin(),
      operations: await shop.admin(),
      support: await shop.admin(),
      viewer: await shop.admin()
    }
    for (const operatorRole of ['operations', 'support', 'viewer'] as const) {
      await shop.ctx.db.update(users).set({ operatorRole }).where(eq(users.id, people[operatorRole].user.id))
    }
    order = await shop.buy(people.customer)
    othersOrder = await shop.buy(people.other)
    await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, people.banned.user.id))
    keys = await makeKeys()
    const [newest] = await shop.ctx.db.select({ id: max(sessions.id) }).from(sessions)
    newestSession = newest?.id ?? 0
  })
  /** Sessions that the calls are made with. */
  const tokens = new Map<Role, string>()
  // Some calls end the session that they came with, or begin another.
  afterEach(async () => {
    const ofCalls = gt(sessions.id, newestSession)
    if ((await shop.ctx.db.$count(sessions, ofCalls)) === tokens.size) return
    await shop.ctx.db.delete(sessions).where(ofCalls)
    tokens.clear()
  })
  afterAll(() => shop?.close())

  async function makeKeys(): Promise<Record<Key, string>> {
    const [mine, boss] = [people.customer.user.id, people.admin.user.id]
    const made = [
      await shop.apiKey(mine, 'read'),
      await shop.apiKey(mine, 'renew'),
      await shop.apiKey(boss, 'read'),
      await shop.apiKey(boss, 'renew')
    ]
    return Object.fromEntries(KEYS.map((name, at) => [name, made[at]?.key ?? ''])) as Record<Key, string>
  }

  async function headersOf(role: Role): Promise<Record<string, string>> {
    if (role === 'visitor') return {}
    if (isKey(role)) return { authorization: `Bearer ${keys[role]}` }
    const token = tokens.get(role) ?? (await addSession(shop.ctx, people[role].user.id))
    tokens.set(role, token)
    return { cookie: `${SESSION_COOKIE}=${token}` }
  }

  /** The path with an id: the customer's own thing where there is one, else one that does not exist. */
  async function urlOf(call: ApiCall): Promise<string> {
    const name = nameOf(call)
    if (OWNED.order.includes(name)) return call.path.replace(':id', String(order.id))
    if (OWNED.orderKey.includes(name)) return `${call.path}?order_id=${order.publicId}`
    // A new one each time, since it is gone once it was revoked.
    if (OWNED.apiKey.includes(name)) {
      const { id } = await shop.apiKey(people.customer.user.id, 'read')
      return call.path.replace(':id', String(id))
    }
    if (OWNED.session.includes(name)) {
      await addSession(shop.ctx, people.customer.user.id)
      const list = await people.customer.get<{ id: number; is_current: boolean }[]>('/api/users/sessions/')
      return call.path.replace(':id', String(list.data.find(one => !one.is_current)?.id))
    }
    if (OWNED.ticket.includes(name)) {
      const sent = { username: 'x', email: 'x@example.com', phone: '1', message: 'Help' }
      const ticket = await addRow(shop.ctx, tickets, { ...sent, userId: people.customer.user.id })
      return call.path.replace(':id', String(ticket.id))
    }
    if (OWNED.webhook.includes(name)) return call.path.replace(':id', String((await anyWebhook()).endpointId))
    if (OWNED.webhookDelivery.includes(name)) return call.path.replace(':id', String((await anyWebhook()).id))
    return call.path.replace(':id', '999999').replace(':key', 'columns')
  }

  /** The customer's endpoint with a delivery: new ones each time, since a call may delete them. */
  async function anyWebhook(): Promise<{ id: number; endpointId: number }> {
    const { secrets } = shop.ctx
    const userId = people.customer.user.id
    const endpoint = await addRow(shop.ctx, webhookEndpoints, {
      userId,
      url: 'https://a.example',
      description: '',
      events: [],
      secret: secrets.seal('whsec_YQ==')
    })
    const event = await addRow(shop.ctx, webhookEvents, { publicId: randomUUID(), type: 'webhook.test', data: {} })
    return addRow(shop.ctx, webhookDeliveries, { eventId: event.id, endpointId: endpoint.id, type: event.type })
  }

  test.each(rows)('$call', async ({ call: name, outcomes }) => {
    const call = calls.find(one => nameOf(one) === name)
    if (!call) throw new Error('no such call')
    // A key may call a hundred times a minute, and there are more calls than that.
    shop.advance(MINUTE)
    const isOwned = Object.values(OWNED).some(list => list.includes(name))
    const found: string[] = []
    for (const role of ROLES) {
      // What belongs to no one is the same for every customer.
      if (role === 'other' && !isOwned) {
        found.push(found[ROLES.indexOf('customer')] ?? '')
        continue
      }
      const signed = outcomes[0] === '401' && call.access === 'public'
      const reply = await (call.raw === 'text/event-stream' ? injectEndless : inject)(shop.app, {
        method: call.method,
        url: await urlOf(call),
        headers: {
          ...(await headersOf(role)),
          ...(call.body && { 'content-type': 'application/json' }),
          'x-forwarded-for': `192.0.2.${found.length}`
        },
        // Not valid where anything has to be in it: it is about who gets as far as being told so.
        ...(call.body && { payload: JSON.stringify(signed ? exampleOf(call.body, components) : {}) })
      })
      expect(reply.statusCode, reply.body).not.toBe(500)
      const refused = [401, 403, ...(isOwned ? [404] : [])]
      found.push(refused.includes(reply.statusCode) ? String(reply.statusCode) : 'in')
    }
    expect(Object.fromEntries(ROLES.map((role, at) => [role, found[at]]))).toEqual(
      Object.fromEntries(ROLES.map((role, at) => [role, outcomes[at]]))
    )
  })

  test("an administrator's key lists no other's orders and reads no other's proxies, and says what it lacks", async () => {
    shop.advance(MINUTE)
    const bearer = { authorization: `Bearer ${keys.adminRead}` }
    const list = await shop.visitor().get<{ data: Order[]; total: number }>('/api/orders/order_list/', bearer)
    expect(list.data).toMatchObject({ data: [], total: 0 })
    const named = await shop.visitor().get<{ total: number }>('/api/orders/order_list/?username=custom1', bearer)
    expect(named.data.total).toBe(0)
    const proxies = await shop.visitor().get(`/api/orders/order_list/${order.id}/copy_proxies/`, bearer)
    expect(proxies.code).toBe(404)
    expect(await shop.visitor().get('/api/users/u/', bearer)).toMatchObject({
      code: 403,
      msg: 'An API key cannot do this. Please log in.'
    })
    const renew = await shop.visitor().post(`/api/orders/order_list/${order.id}/order-renew-checkout/`, {}, bearer)
    expect(renew).toMatchObject({ code: 403, msg: 'This API key lacks the permission renew' })
  })

  test("nothing that a customer can read holds another's name, order, proxies or codes", async () => {
    const detail = await people.customer.get<{ proxy_list: { ip: string; username: string }[]; order: Order }>(
      `/api/orders/order_list/${order.id}/get_proxy_detail/`
    )
    const [proxy] = detail.data.proxy_list
    const secrets = ['custom1', order.publicId, proxy?.username ?? '', `${proxy?.ip}:`, 'OF-custom1']
    expect(secrets).not.toContain('')
    const readable = calls.filter(
      call => call.method === 'GET' && call.access !== 'admin' && !call.path.includes('logout')
    )
    const own = new Set<string>()
    for (const call of readable) {
      const path = `${call.path.replace(':id', String(othersOrder.id)).replace(':key', 'columns')}?limit=100&order_id=${othersOrder.publicId}&tags=1`
      const text = await textOf(await people.other.fetch(path))
      for (const secret of secrets) expect(text, `${call.path} told ${secret}`).not.toContain(secret)
      for (const mark of ['other1', othersOrder.publicId, 'OF-other1']) if (text.includes(mark)) own.add(mark)
    }
    // The same marks of its own are there: the calls were let in and showed something.
    expect(own.size).toBe(3)
  })

  test('a customer that names another user in a list still sees only its own', async () => {
    const list = await people.other.get<{ data: Order[]; total: number }>('/api/orders/order_list/?username=custom1')
    expect(list.data.data.map(one => one.username)).toEqual(['other1'])
    const codes = await people.other.get<{ total: number }>('/api/rewards/coupon_code/?search=custom1')
    expect(codes.data.total).toBe(0)
  })
})
