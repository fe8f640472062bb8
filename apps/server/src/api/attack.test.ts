// Attacks on all calls, by class. `npm run test:attack` runs them with those that have a file of their own.
import * as contract from '@netlet/contract'
import type { Route } from '@netlet/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../../../../scripts/testing/tier.ts'
import { users } from '../domains/accounts/tables.ts'
import { orders } from '../domains/orders/tables.ts'
import { DAY } from '../infra/clock.ts'
import { calls, components, nameOf, send } from './attack.fixture.ts'
import type { ApiCall } from './calls.ts'
import { OWNED } from './owned.matrix.ts'
import { exampleOf } from './schemas.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'
import { contentOfTables, differences } from './tables.fixture.ts'

const schemaOf = ({ id }: ApiCall) => {
  const [domain, name = ''] = id.split('.')
  return (contract.routes[domain as contract.Domain] as Record<string, Route>)[name]?.body
}
const writes = calls.filter(({ method }) => method !== 'GET')

let shop: StockedShop
let buyer: Buyer
let other: Buyer
let boss: Buyer
let order: { id: number; publicId: string }

beforeAll(async () => {
  shop = await startStockedShop()
  // Requests name small ids: these users are expendable, those that call are not among them.
  for (let n = 0; n < 10; n++) await shop.customer()
  buyer = await shop.customer()
  other = await shop.customer()
  boss = await shop.admin()
  order = await shop.buy(buyer)
})
afterAll(() => shop?.close())

describe('ids of others', () => {
  const owned = Object.values(OWNED).flat()

  test('each call of customers that names a thing is tried with that of another one, or the thing is public', () => {
    const PUBLIC = [
      'GET /api/users/preferences/:key',
      'PUT /api/users/preferences/:key',
      'GET /api/products/products/:id/occupancy/',
      'GET /api/status/incident/:id/'
    ]
    const named = calls.filter(({ access, path }) => access !== 'admin' && path.includes(':')).map(nameOf)
    expect(named.filter(name => !owned.includes(name))).toEqual(PUBLIC)
  })

  test.each(OWNED.order)('%s of another customer is not found with a valid body either', async name => {
    const call = calls.find(one => nameOf(one) === name)
    if (!call) throw new Error('no such call')
    const before = await contentOfTables(shop.ctx)
    const reply = await send(shop, call, other, { path: call.path.replace(':id', String(order.id)) })
    expect(reply.json()).toMatchObject({ code: 404 })
    expect(differences(before, await contentOfTables(shop.ctx))).toEqual([])
  })

  test('nor does one renew, list or check out the orders of another', async () => {
    expect((await other.post('/api/orders/renew/', { order_ids: [order.id] })).data).toMatchObject([
      { id: order.id, reason: 'not_found' }
    ])
    expect((await other.get(`/api/orders/checkout?order_id=${order.publicId}`)).code).toBe(404)
    for (const query of [
      `id=${order.id}`,
      `order_id=${order.publicId}`,
      `user_id=${buyer.user.id}`,
      'username=user11'
    ]) {
      const list = await other.get<{ total: number }>(`/api/orders/order_list/?${query}`)
      expect(list.data?.total ?? 0, query).toBe(0)
    }
  })
})

describe('fields that no form has', () => {
  const MARK = 'zz_not_in_the_form'
  const marked = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(marked)
    if (typeof value !== 'object' || value === null) return value
    return { ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, marked(inner)])), [MARK]: 'x' }
  }
  /** They pass on what an operator enters, as it is. */
  const OPEN = ['fleet.planAgentSettings', 'fleet.setAgentSettings', 'fleet.requestApi']

  test('are dropped by each call, at any depth', () => {
    const found: string[] = []
    let parsed = 0
    for (const call of calls.filter(({ body }) => body !== undefined)) {
      const result = schemaOf(call)?.safeParse(marked(exampleOf(call.body ?? {}, components)))
      if (!result?.success) continue
      parsed++
      if (JSON.stringify(result.data).includes(MARK)) found.push(call.id)
    }
    expect(found).toEqual(OPEN)
    expect(parsed).toBeGreaterThan(140)
  })

  /** Columns of users and orders, as the database and the API name them. */
  const FORBIDDEN = {
    is_superuser: true,
    isSuperuser: true,
    is_active: false,
    operator_role: 'owner',
    operatorRole: 'owner',
    role: 'owner',
    coins: 1_000_000,
    reward_points: 1_000_000,
    level_points: 1_000_000,
    password_hash: 'x',
    state: 'delivered',
    amount: '0.01',
    price: '0.01',
    expired_at: 4_000_000_000_000,
    delivered_at: 1
  }

  test('give no customer rights, coins or proxies without a payment', { timeout: 240_000 }, async () => {
    const rights = async () => ({
      users: await shop.ctx.db
        .select({
          id: users.id,
          is: users.isSuperuser,
          role: users.operatorRole,
          on: users.isActive,
          coins: users.coins,
          points: users.levelPoints
        })
        .from(users)
        .orderBy(users.id),
      paid: await shop.ctx.db
        .select({ id: orders.id, state: orders.state, ends: orders.expiredAt })
        .from(orders)
        .orderBy(orders.id)
    })
    // A new customer each time, since some calls delete the account or end the session.
    for (const call of writes.filter(({ access, body }) => access !== 'admin' && body)) {
      const caller = await shop.customer()
      const before = await rights()
      const honest = exampleOf(call.body ?? {}, components) as object | null
      await send(shop, call, call.access === 'public' ? null : caller, {
        body: { ...FORBIDDEN, ...honest, ...missing(honest) }
      })
      const after = await rights()
      const known = new Set(before.users.map(({ id }) => id))
      const fresh = after.users.filter(({ id }) => !known.has(id))
      expect(
        fresh.filter(one => one.is || one.role !== null || one.coins !== 0),
        call.id
      ).toEqual([])
      const of = (rows: { id: number }[]) => rows.filter(({ id }) => id !== caller.user.id)
      expect(of(after.users.filter(({ id }) => known.has(id))), call.id).toEqual(of(before.users))
      expect(
        after.paid.filter(({ state }) => state === 'delivered'),
        call.id
      ).toEqual(before.paid.filter(({ state }) => state === 'delivered'))
      shop.advance(DAY)
    }
  })
  const missing = (honest: object | null) =>
    Object.fromEntries(Object.entries(FORBIDDEN).filter(([name]) => !(name in (honest ?? {}))))
})

describe('twenty copies of a command at once', () => {
  /** Each copy is wanted, up to a limit: a person may make two that are alike. */
  const REPEATED: Record<string, string> = {
    'accounts.createApiToken': 'public.api_keys',
    'secondFactor.passkeyLoginOptions': 'public.second_factor_tickets',
    'support.createFaq': 'public.faqs',
    'support.createSavedReply': 'public.saved_replies',
    'notices.testChannel': 'public.notice_sends',
    'webhooks.createEndpoint': 'public.webhook_endpoints',
    'webhooks.createOperatorEndpoint': 'public.webhook_endpoints'
  }
  /** One command writes several rows. */
  const SEVERAL: Record<string, number> = { 'rewards.createGiftCards': 20 }
  const USUAL = 2
  const LOGS = ['public.audit_log', 'public.logins', 'public.order_events', 'jobs']
  /** Neither the platform nor an agent is there. */
  const AWAY = /"reason":"(platform_unavailable|agent_unreachable)"/
  const chosen = writes.filter((_, at) => isLong || at % 8 === 0)

  test('happen once, or are known to be wanted as often, and none fails', { timeout: 1_200_000 }, async () => {
    const faults: string[] = []
    for (const call of chosen) {
      const isOrder = OWNED.order.includes(nameOf(call))
      const customer = isOrder ? buyer : await shop.customer()
      const by = { admin: boss, user: customer, public: null }[call.access]
      const path = isOrder ? call.path.replace(':id', String(order.id)) : call.path
      const before = await contentOfTables(shop.ctx)
      const replies = await Promise.all(Array.from({ length: 20 }, () => send(shop, call, by, { path })))
      const after = await contentOfTables(shop.ctx)
      const failed = replies.find(({ statusCode, body }) => statusCode >= 500 && !AWAY.test(body))
      if (failed) faults.push(`${call.id}: ${failed.statusCode} ${failed.body}`)
      const rows = (content: Record<string, string>, name: string) => Number(content[name]?.split(':')[0])
      const grown = Object.keys(after)
        .filter(name => !LOGS.includes(name) && REPEATED[call.id] !== name)
        .map(name => ({ name, by: rows(after, name) - rows(before, name) }))
        .filter(one => one.by > (SEVERAL[call.id] ?? USUAL))
      if (grown.length > 0) faults.push(`${call.id}: ${JSON.stringify(grown)}`)
    }
    expect(faults).toEqual([])
  })
})
