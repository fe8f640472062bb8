import type { Page, WebhookDelivery, WebhookEndpoint } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { auditLog } from '../../infra/tables.ts'
import { createApiKey } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { userActor } from '../../testing/session.ts'
import { emitEvent } from './emit.ts'
import { verified } from './receiver.fixture.ts'
import { webhookAttempts, webhookEndpoints, webhookEvents } from './tables.ts'
import { ADMIN, DELIVERIES, delivered, ENDPOINTS, OPERATORS_ORIGIN, startHooks } from './webhooks.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const hooks = useStarted(startHooks)

const lastAt = (path: string) => {
  const found = hooks.receiver.got.findLast(one => one.path === path)
  if (!found) throw new Error(`nothing was sent to ${path}`)
  return found
}

test('an event is posted, signed as Standard Webhooks says, if and only if its change commits', async () => {
  const client = await hooks.shop.customer()
  const { id, secret, ...endpoint } = await hooks.endpoint(client, '/signed')
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(endpoint).toMatchObject({ enabled: true, user_id: client.user.id, events: ['order.delivered'] })
  const rolledBack = command(hooks.shop.ctx, SYSTEM, async unit => {
    await emitEvent(unit, delivered(client.user.id))
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  expect(await hooks.deliveriesTo(id)).toEqual([])
  await hooks.emit(delivered(client.user.id, 7))
  await hooks.deliverTo(id)
  const got = lastAt('/signed')
  expect(verified(secret, got)).toEqual({
    type: 'order.delivered',
    timestamp: expect.any(String),
    data: {
      order_id: 7,
      order: 'NL-1',
      state: 'delivered',
      links: {
        page: 'http://shop.example.com/dashboard/index/proxies/7',
        proxies: 'http://shop.example.com/api/orders/order_list/7/get_proxy_detail/'
      }
    }
  })
  expect(() => verified('whsec_YQ==', got)).toThrow('No matching signature')
  const [logged] = await hooks.log(client)
  expect(logged).toMatchObject({ state: 'sent', tries: 1, status: 200, failure: null, event: 'order.delivered' })
  expect(logged?.event_id).toBe(got.headers['webhook-id'])
  const { attempts, payload } = await hooks.detail(client, logged?.id ?? 0)
  expect(payload).toBe(got.body)
  expect(attempts).toEqual([expect.objectContaining({ status: 200, failure: null, answer: 'answer 200' })])
})

test('a secret is shown once; after a new one was made both sign for a day', async () => {
  const client = await hooks.shop.customer()
  const made = await hooks.endpoint(client, '/rotated')
  const list = await client.get<WebhookEndpoint[]>(ENDPOINTS)
  expect(JSON.stringify(list.data)).not.toContain('whsec_')
  const [row] = await hooks.shop.ctx.db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, made.id))
  expect(row?.secret.toString('utf8')).not.toContain('whsec_')
  const rotated = await client.post<{ secret: string }>(`${ENDPOINTS}${made.id}/rotate_secret/`)
  expect(rotated.data.secret).not.toBe(made.secret)
  const send = async () => {
    await hooks.emit(delivered(client.user.id))
    await hooks.deliverTo(made.id)
    return lastAt('/rotated')
  }
  const both = await send()
  verified(made.secret, both)
  verified(rotated.data.secret, both)
  await hooks.shop.ctx.db
    .update(webhookEndpoints)
    .set({ formerUntil: hooks.shop.ctx.now() })
    .where(eq(webhookEndpoints.id, made.id))
  const later = await send()
  verified(rotated.data.secret, later)
  expect(() => verified(made.secret, later)).toThrow('No matching signature')
  const audited = await hooks.shop.ctx.db.select().from(auditLog).where(eq(auditLog.targetType, 'webhook'))
  expect(JSON.stringify(audited)).not.toContain('whsec_')
})

test('an event goes to the endpoints of its user that chose it, and to operators that chose it', async () => {
  const [client, other] = [await hooks.shop.customer(), await hooks.shop.customer()]
  const admin = await hooks.shop.admin()
  const mine = await hooks.endpoint(client, '/mine')
  const expiring = await hooks.endpoint(client, '/mine-expiring', ['order.expiring'])
  const theirs = await hooks.endpoint(other, '/theirs')
  const off = await hooks.endpoint(client, '/off')
  await client.put(`${ENDPOINTS}${off.id}/`, { url: off.url, events: off.events, enabled: false })
  const forAll = await admin.post<WebhookEndpoint>(`${ADMIN}/endpoints/`, {
    url: `${hooks.receiver.origin}/operators`,
    events: ['order.delivered', 'server.down']
  })
  await hooks.emit(delivered(client.user.id))
  await hooks.emit({ type: 'server.down', userId: null, data: { server_id: 3 } })
  const counts = [mine, expiring, theirs, off, forAll.data].map(async ({ id }) =>
    (await hooks.deliveriesTo(id)).map(({ type }) => type)
  )
  expect(await Promise.all(counts)).toEqual([['order.delivered'], [], [], [], ['order.delivered', 'server.down']])
  // User and operators get one event with one id.
  const log = await admin.get<{ data: { event_id: string; user_id: number | null }[] }>(
    `${ADMIN}/deliveries/?user_id=${client.user.id}`
  )
  expect(log.data.data.map(row => row.user_id)).toEqual([client.user.id])
  // Without listeners nothing is written.
  const before = await hooks.shop.ctx.db.$count(webhookEvents)
  await hooks.emit({ type: 'order.expired', userId: other.user.id, data: {} })
  await hooks.shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, other.user.id))
  await hooks.emit({ ...delivered(other.user.id), type: 'credentials.changed' })
  expect(await hooks.shop.ctx.db.$count(webhookEvents)).toBe(before)
  await admin.delete(`${ADMIN}/endpoints/${forAll.data.id}/`)
})

test('a search of the log keeps its other filters', async () => {
  const [one, other] = [await hooks.shop.customer(), await hooks.shop.customer()]
  const [first, second] = [await hooks.endpoint(one, '/first'), await hooks.endpoint(one, '/second')]
  const theirs = await hooks.endpoint(other, '/theirs')
  for (const { user } of [one, other]) await hooks.emit(delivered(user.id))
  const admin = await hooks.shop.admin()
  const found = async (client: typeof one, path: string, query: object) => {
    const { data } = await client.get<Page<WebhookDelivery>>(`${path}?${new URLSearchParams({ ...query }).toString()}`)
    return data.data.map(row => row.endpoint_id).toSorted((a, b) => a - b)
  }
  const all = (query: object) => found(admin, `${ADMIN}/deliveries/`, query)
  const search = one.user.username
  expect(await all({ search })).toEqual([first.id, second.id])
  expect(await all({ search, endpoint_id: second.id })).toEqual([second.id])
  expect(await all({ search, endpoint_id: theirs.id })).toEqual([])
  expect(await all({ search, user_id: other.user.id })).toEqual([])
  expect(await all({ user_id: one.user.id, endpoint_id: first.id })).toEqual([first.id])
  // A customer's search covers its own ones only.
  expect(await found(one, DELIVERIES, {})).toEqual([first.id, second.id])
  expect(await found(one, DELIVERIES, { search: 'nothing-like-it' })).toEqual([])
  expect(await found(one, DELIVERIES, { search: other.user.username })).toEqual([])
})

test("others' endpoints and deliveries do not exist for a customer, nor customers' for the operators' forms", async () => {
  const [client, other, admin] = [await hooks.shop.customer(), await hooks.shop.customer(), await hooks.shop.admin()]
  const { id, url, events } = await hooks.endpoint(client, '/private')
  await hooks.emit(delivered(client.user.id))
  const [delivery] = await hooks.deliveriesTo(id)
  const statuses = await Promise.all([
    other.get(`${DELIVERIES}${delivery?.id}/`),
    other.post(`${DELIVERIES}${delivery?.id}/resend/`),
    other.post(`${ENDPOINTS}${id}/test/`),
    other.post(`${ENDPOINTS}${id}/rotate_secret/`),
    other.put(`${ENDPOINTS}${id}/`, { url, events }),
    other.delete(`${ENDPOINTS}${id}/`),
    admin.put(`${ADMIN}/endpoints/${id}/`, { url, events }),
    admin.delete(`${ADMIN}/endpoints/${id}/`)
  ])
  expect(statuses.map(reply => reply.status)).toEqual(Array.from({ length: 8 }, () => 404))
  expect(await hooks.log(other)).toEqual([])
})

test.each([
  ['http://hooks.example.com/', 'webhook_not_https'],
  ['https://127.0.0.1/', 'webhook_not_public'],
  ['https://hooks.example.com:22/', 'webhook_port'],
  ['https://shop.example.com/api/orders/pay_webhook', 'webhook_own_address'],
  ['https://user:pass@hooks.example.com/', undefined],
  ['https://', undefined]
])('%s is no endpoint (%s)', async (url, reason) => {
  const client = await hooks.shop.customer()
  const reply = await client.post<{ reason: string; errors: { url: string } }>(ENDPOINTS, {
    url,
    events: ['order.expired']
  })
  expect(reply.status).toBe(400)
  if (reason) expect(reply.data.reason).toBe(reason)
  expect(reply.data.errors.url).toBeTruthy()
  expect((await client.get<unknown[]>(ENDPOINTS)).data).toEqual([])
})

test('what the operators may reach in their own network is not for customers', async () => {
  const events = ['order.delivered']
  const admin = await hooks.shop.admin()
  const client = await hooks.shop.customer()
  const at = (path: string) => ({ url: `${OPERATORS_ORIGIN}${path}`, events })
  expect((await admin.post(`${ADMIN}/endpoints/`, { ...at('/pay'), events: ['server.down'] })).status).toBe(200)
  for (const path of ['/', '/pay', '/hooks', '/hooks/../pay', '/hooks/%2e%2e/pay'])
    expect(await client.post(ENDPOINTS, at(path))).toMatchObject({ status: 400, data: { reason: 'webhook_not_https' } })
  const made = await client.post<WebhookEndpoint>(ENDPOINTS, at('/hooks/in/me'))
  expect(made.status).toBe(200)
  expect((await client.put(`${ENDPOINTS}${made.data.id}/`, at('/pay'))).status).toBe(400)
})

test('endpoints, their making in a loop, and what is asked to be sent have limits', async () => {
  const client = await hooks.shop.customer()
  const form = { url: `${hooks.receiver.origin}/many`, events: ['order.expired'] }
  const made = await Promise.all(Array.from({ length: 7 }, () => client.post<WebhookEndpoint>(ENDPOINTS, form)))
  expect(made.map(reply => reply.status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 200, 409, 409])
  const ids = made.filter(reply => reply.status === 200).map(reply => reply.data.id)
  const asked = await Promise.all(
    Array.from({ length: 33 }, (_, n) => client.post(`${ENDPOINTS}${ids[n % ids.length]}/test/`))
  )
  expect(asked.filter(reply => reply.status === 200)).toHaveLength(30)
  expect(asked.filter(reply => reply.status === 429)).toHaveLength(3)
  // Neither a new endpoint nor a deletion gives more tests.
  for (const id of ids) await client.delete(`${ENDPOINTS}${id}/`)
  const loop = []
  for (let n = 0; n < 16; n++) {
    const next = await client.post<WebhookEndpoint>(ENDPOINTS, form)
    loop.push(next.status)
    if (next.status !== 200) break
    if (n === 0) expect((await client.post(`${ENDPOINTS}${next.data.id}/test/`)).status).toBe(429)
    await client.delete(`${ENDPOINTS}${next.data.id}/`)
  }
  expect(loop).toEqual([...Array.from({ length: 15 }, () => 200), 429])
})

test('one event that is sent again and again counts each time', async () => {
  const client = await hooks.shop.customer()
  const endpoint = await hooks.endpoint(client, '/again')
  const test = await client.post<{ delivery_id: number }>(`${ENDPOINTS}${endpoint.id}/test/`)
  const id = test.data.delivery_id
  const again = async () => {
    await hooks.deliver(id)
    return (await client.post(`${DELIVERIES}${id}/resend/`)).status
  }
  const answers = []
  for (let nth = 0; nth < 31; nth++) answers.push(await again())
  expect(answers).toEqual([...Array<number>(29).fill(200), 429, 429])
  expect(await hooks.shop.ctx.db.$count(webhookAttempts, eq(webhookAttempts.deliveryId, id))).toBe(30)
})

test('an API key manages endpoints with the scope for it, and reads with the scope to read', async () => {
  const client = await hooks.shop.customer()
  const actor = userActor(client.user.id)
  const keyFor = async (scope: 'read' | 'renew' | 'webhooks') => {
    const made = await createApiKey(hooks.shop.ctx, actor, { name: scope, scopes: [scope], password: TEST_PASSWORD })
    return { authorization: `Bearer ${made.ok ? made.data.key : ''}` }
  }
  const [read, renew, manage] = [await keyFor('read'), await keyFor('renew'), await keyFor('webhooks')]
  const visitor = hooks.shop.visitor()
  const form = { url: `${hooks.receiver.origin}/by-key`, events: ['order.expired'] }
  const statuses = []
  for (const key of [read, renew, manage])
    statuses.push((await visitor.post(ENDPOINTS, form, key)).status, (await visitor.get(ENDPOINTS, key)).status)
  expect(statuses).toEqual([403, 200, 403, 403, 200, 403])
})

test('an edit of another version is refused, and switching an endpoint on clears its failures', async () => {
  const client = await hooks.shop.customer()
  const { id, url, events, version } = await hooks.endpoint(client, '/edited')
  await hooks.shop.ctx.db
    .update(webhookEndpoints)
    .set({ enabled: false, offReason: 'failing', failures: 9, failingSince: hooks.shop.ctx.now() })
    .where(eq(webhookEndpoints.id, id))
  const stale = await client.put<{ changed: string[] }>(`${ENDPOINTS}${id}/`, { url, events, version })
  expect(stale.status).toBe(409)
  expect(stale.data.changed).toEqual(['enabled'])
  const edited = await client.put<WebhookEndpoint>(`${ENDPOINTS}${id}/`, { url, events, description: ' CI ' })
  expect(edited.data).toMatchObject({ enabled: true, off_reason: null, failing_since: null, description: 'CI' })
})
