import { routes, type Route } from '@netlet/contract'
import { rootCertificates } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeSettings } from '../domains/settings/index.ts'
import { MINUTE } from '../infra/clock.ts'
import { TEST_PASSWORD } from '../testing/shop.ts'
import { describeCalls } from './calls.ts'
import { exampleOf } from './schemas.ts'
import { startStockedShop, type Buyer, type StockedShop } from './stocked-shop.fixture.ts'

const marked = Object.entries(routes).flatMap(([domain, calls]) =>
  Object.entries(calls as Record<string, Route>)
    .filter(([, { needsConfirmation }]) => needsConfirmation)
    .map(([name, route]) => ({ id: `${domain}.${name}`, route }))
)

/** Bodies that hold what a call is asked about, where its example does not. */
const SERVER = { name: 'other', ip: '127.0.0.1', cidr: '127.50.0.0/24', password: 'ssh password' }
const BODIES: Record<string, object> = {
  'fleet.createServer': SERVER,
  'fleet.updateServer': SERVER,
  'fleet.setProxyTls': { source: 'pasted', key: 'PEM' },
  'notices.createChannel': { name: 'chat', kind: 'chat', target: 'https://chat.example/hook' },
  'notices.updateChannel': { name: 'chat', kind: 'chat', target: 'https://chat.example/hook' },
  'orders.refund': { amount: '100.00', version: 'v' },
  'payments.refund': { version: 'v' }
}

/** The same of queries. */
const QUERIES: Record<string, string> = { 'orders.proxyDetail': '?format=csv' }

let shop: StockedShop
let admin: Buyer
let customer: Buyer
let orderId: number

beforeAll(async () => {
  shop = await startStockedShop()
  admin = await shop.admin()
  customer = await shop.customer()
  orderId = (await shop.buy(customer)).id
  await writeSettings(shop.ctx, { operator_confirm_minutes: 10, confirm_refunds_from: 100 })
})
afterAll(() => shop?.close())

const { calls, components } = describeCalls()

const send = (client: Buyer, { method, path }: Route, body: unknown, query = '') =>
  client.fetch(path.replace(':id', path.startsWith('/api/orders') ? String(orderId) : '999999') + query, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  })

async function reasonOf(client: Buyer, route: Route, body: unknown, query?: string): Promise<unknown> {
  const reply = await send(client, route, body, query)
  if (!reply.headers.get('content-type')?.includes('json')) return undefined
  const { data } = (await reply.json()) as { data: { reason?: string } | null }
  return data?.reason
}

test.each(marked)('$id asks an old session for a confirmation, and works after it', async ({ id, route }) => {
  const call = calls.find(one => one.id === id)
  const body = BODIES[id] ?? (call?.body && exampleOf(call.body, components))
  shop.advance(11 * MINUTE)
  expect(await reasonOf(admin, route, body, QUERIES[id])).toBe('confirmation_needed')
  expect(await admin.post('/api/users/confirm', { password: TEST_PASSWORD })).toMatchObject({ code: 2000 })
  const after = await reasonOf(admin, route, body, QUERIES[id])
  expect(['confirmation_needed', 'invalid', 'bad_request']).not.toContain(after)
})

test('the list of what asks is complete', () => {
  expect(marked.map(({ id }) => id).toSorted()).toEqual(
    [
      'accounts.adminPassword',
      'accounts.ban',
      'accounts.createApiToken',
      'accounts.deleteUser',
      'accounts.switchUser',
      'accounts.unban',
      'accounts.updateUser',
      'fleet.createServer',
      'fleet.giveUp',
      'fleet.requestApi',
      'fleet.setProxyTls',
      'fleet.updateServer',
      'notices.createChannel',
      'notices.updateChannel',
      'orders.copyProxies',
      'orders.exportProxies',
      'orders.proxyDetail',
      'orders.refund',
      'payments.refund',
      'secondFactor.resetSecondFactor',
      'settings.endFormerSecrets',
      'settings.saveConfig',
      'settings.saveLogo',
      'webhooks.createOperatorEndpoint',
      'webhooks.rotateOperatorSecret',
      'webhooks.updateOperatorEndpoint'
    ].toSorted()
  )
})

test('what holds no secret and small refunds ask for nothing', async () => {
  shop.advance(11 * MINUTE)
  const { password: _password, ...server } = SERVER
  expect(await reasonOf(admin, routes.fleet.updateServer, server)).toBe('not_found')
  expect(await reasonOf(admin, routes.notices.updateChannel, { name: 'chat' })).toBe('not_found')
  expect(await reasonOf(admin, routes.orders.refund, { amount: '99.99', version: 'v' })).not.toBe('confirmation_needed')
  expect((await send(admin, routes.orders.proxyDetail, undefined, '?limit=100')).status).toBe(200)
})

test('which machine gets the secrets of a server is confirmed, and a plain edit of it is not', async () => {
  shop.advance(11 * MINUTE)
  const { password: _password, ...plain } = SERVER
  for (const field of [
    { forget_certificate: 1 },
    { agent_certificate: rootCertificates[0] },
    { agent_certificate: '' },
    { agent_certificate: null },
    { host_key: `SHA256:${'a'.repeat(43)}` }
  ])
    expect(await reasonOf(admin, routes.fleet.updateServer, { ...plain, ...field })).toBe('confirmation_needed')
  const edit = { ...plain, description: 'in Paris', forget_certificate: 0, host_key: '', agent_token: '' }
  expect(await reasonOf(admin, routes.fleet.updateServer, edit)).toBe('not_found')
})

test('a call to an agent is confirmed unless it is known to concern no credentials', async () => {
  shop.advance(11 * MINUTE)
  const ask = (uri: string) => reasonOf(admin, routes.fleet.requestApi, { uri, json_input: { user: 'anna' } })
  for (const uri of ['view-user', 'view-user/', 'update-user', 'add-whitelist-ip', 'create-user', 'not-known-yet'])
    expect(await ask(`/api/${uri}`), uri).toBe('confirmation_needed')
  for (const uri of ['reload', 'reload/', 'delete-user']) expect(await ask(`/api/${uri}`), uri).toBe('not_found')
})

test('a customer exports the own proxies with a session of any age, and so does a key', async () => {
  shop.advance(11 * MINUTE)
  expect((await send(customer, routes.orders.exportProxies, undefined)).status).toBe(200)
  const { key } = await shop.apiKey(customer.user.id, 'read')
  const bearer = { authorization: `Bearer ${key}` }
  expect(await shop.visitor().get(`/api/orders/order_list/${orderId}/copy_proxies/`, bearer)).toMatchObject({
    code: 2000
  })
})
