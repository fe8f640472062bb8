import type { NewWebhookEndpoint, WebhookDeliveryDetail } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { createSecrets } from '../../infra/secrets.ts'
import { users } from '../accounts/tables.ts'
import { deliverWebhook, pauseAfter } from './deliver.ts'
import { forgetEndpoints } from './endpoints.ts'
import { sweepDeliveries, webhookRetention } from './jobs.ts'
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'
import { ADMIN, delivered, DELIVERIES, ENDPOINTS, type Hooks, SENDING, startHooks } from './webhooks.fixture.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { useStarted } from '../../testing/use-started.ts'
import { fromNow } from '../../testing/later.ts'

const hooks = useStarted(startHooks)

/** A customer with an endpoint and a waiting event. */
async function waiting(path: string) {
  const client = await hooks.shop.customer()
  const endpoint = await hooks.endpoint(client, path)
  await hooks.emit(delivered(client.user.id))
  const [delivery] = await hooks.deliveriesTo(endpoint.id)
  if (!delivery) throw new Error('nothing waits')
  return { client, endpoint, id: delivery.id }
}

const readDelivery = async (id: number) => {
  const [row] = await hooks.shop.ctx.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id))
  if (!row) throw new Error('no delivery')
  return row
}
const readEndpoint = async (id: number) => {
  const [row] = await hooks.shop.ctx.db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id))
  if (!row) throw new Error('no endpoint')
  return row
}
const hitsOf = (path: string) => hooks.receiver.got.filter(one => one.path === path).length
/** Whether a time is `pause` after a moment since `began`. Pauses of tries vary by some seconds. */
const follows = (time: Date | string | null | undefined, began: Date, pause: number) => {
  const moment = new Date(time ?? 0).getTime() - pause
  return moment > began.getTime() - 5_000 && moment < hooks.shop.ctx.now().getTime() + 5_000
}

test.each([
  ['500', (): number => 500, { failure: 'status', status: 500, answer: 'answer 500' }],
  [
    'a 404 in HTML',
    () => (reply: Reply) => void reply.writeHead(404).end('<html>\0no'),
    { failure: 'status', status: 404, answer: '<html>no' }
  ],
  [
    'a redirect',
    () => (reply: Reply) => void reply.writeHead(302, { location: `${hooks.receiver.origin}/elsewhere` }).end(),
    { failure: 'redirect', status: 302, answer: '' }
  ],
  [
    'half a body',
    () => (reply: Reply) => void reply.writeHead(200, { 'content-length': '99' }).write('half', () => reply.destroy()),
    { failure: 'cut_off', status: 200, answer: '' }
  ],
  [
    'a broken connection',
    () => (reply: Reply) => void reply.destroy(),
    { failure: 'network', status: null, answer: '' }
  ],
  ['silence', () => () => {}, { failure: 'timeout', status: null, answer: '' }]
])('%s is a failed try, and the next one follows', async (what, answer, expected) => {
  const path = `/fault-${encodeURIComponent(what)}`
  const { client, endpoint, id } = await waiting(path)
  hooks.receiver.answer(path, answer())
  const began = hooks.shop.ctx.now()
  await hooks.deliver(id, { timeoutMs: what === 'silence' ? 1000 : 5_000 })
  const { attempts, ...delivery } = await hooks.detail(client, id)
  expect(attempts).toEqual([expect.objectContaining(expected)])
  expect(delivery).toMatchObject({ state: 'waiting', tries: 1, failure: expected.failure, status: expected.status })
  expect(follows(delivery.next_try_at, began, 10_000)).toBe(true)
  expect(hitsOf('/elsewhere')).toBe(0)
  expect(await readEndpoint(endpoint.id)).toMatchObject({ failures: 1 })
  // It has another job, which starts later.
  const { rows } = await hooks.shop.ctx.db.execute<{ count: number }>(
    sql`select count(*)::int as count from pgboss.job where name = 'send-webhook' and singleton_key = ${String(id)}`
  )
  expect(rows[0]?.count).toBeGreaterThan(0)
  hooks.receiver.answer(path, 204)
  await hooks.shop.ctx.db
    .update(webhookDeliveries)
    .set({ nextAt: new Date(0) })
    .where(eq(webhookDeliveries.id, id))
  await hooks.shop.ctx.db
    .update(webhookEndpoints)
    .set({ pausedUntil: null })
    .where(eq(webhookEndpoints.id, endpoint.id))
  await hooks.deliver(id)
  expect(await readDelivery(id)).toMatchObject({ state: 'sent', tries: 2, status: 204, failure: null })
  expect(await readEndpoint(endpoint.id)).toMatchObject({ failures: 0, failingSince: null, pausedUntil: null })
  const [first, second] = hooks.receiver.got.filter(one => one.path === path)
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(second?.body).toBe(first?.body)
})

type Reply = Parameters<Extract<Parameters<Hooks['receiver']['answer']>[1], (...args: never[]) => unknown>>[0]

test('a secret that was sealed with another APP_SECRET is a failed try, and a new one ends it at once', async () => {
  const { client, endpoint, id } = await waiting('/restored')
  const { db } = hooks.shop.ctx
  const foreign = createSecrets('of another installation').seal(endpoint.secret)
  await db.update(webhookEndpoints).set({ secret: foreign }).where(eq(webhookEndpoints.id, endpoint.id))
  await hooks.deliver(id)
  expect(hitsOf('/restored')).toBe(0)
  expect(await hooks.detail(client, id)).toMatchObject({
    state: 'waiting',
    failure: 'secret_unreadable',
    attempts: [{ failure: 'secret_unreadable', status: null }]
  })
  expect(await readEndpoint(endpoint.id)).toMatchObject({ failures: 1 })
  await client.post(`${ENDPOINTS}${endpoint.id}/rotate_secret/`)
  hooks.shop.advance(HOUR)
  await hooks.deliver(id)
  expect(hitsOf('/restored')).toBe(1)
  expect(await readDelivery(id)).toMatchObject({ state: 'sent' })
})

test('an address that was changed while a post was on its way is not switched off for the former one', async () => {
  const { client, endpoint, id } = await waiting('/former')
  const form = { url: `${hooks.receiver.origin}/later`, events: ['order.delivered'] }
  hooks.receiver.answer(
    '/former',
    reply => void client.put(`${ENDPOINTS}${endpoint.id}/`, form).then(() => reply.writeHead(410).end())
  )
  await hooks.deliver(id)
  expect(await readEndpoint(endpoint.id)).toMatchObject({ enabled: true, failures: 0 })
  expect(await readDelivery(id)).toMatchObject({ state: 'waiting', status: 410 })
})

test('429 with Retry-After: nothing is sent there before, neither this event nor the next one', async () => {
  const { client, endpoint, id } = await waiting('/busy')
  hooks.receiver.answer('/busy', reply => void reply.writeHead(429, { 'retry-after': '1800' }).end())
  const began = hooks.shop.ctx.now()
  await hooks.deliver(id)
  expect(follows((await readDelivery(id)).nextAt, began, 1_800_000)).toBe(true)
  hooks.receiver.answer('/busy', 200)
  await hooks.emit(delivered(client.user.id))
  await hooks.deliverTo(endpoint.id)
  expect(hitsOf('/busy')).toBe(1)
  const later = (await hooks.deliveriesTo(endpoint.id))[1]
  expect(later).toMatchObject({ state: 'waiting', tries: 0 })
  expect((later?.nextAt.getTime() ?? 0) - 1_800_000).toBeGreaterThan(began.getTime() - 5_000)
  // Its owner may still test it.
  const test1 = await client.post<{ delivery_id: number }>(`${ENDPOINTS}${endpoint.id}/test/`)
  await hooks.deliver(test1.data.delivery_id)
  expect(hitsOf('/busy')).toBe(2)
  expect(await readEndpoint(endpoint.id)).toMatchObject({ failures: 0, pausedUntil: null })
})

test('an event is tried for about three days, with growing pauses that differ', () => {
  const pauses = Array.from({ length: 11 }, (_, tries) => pauseAfter(tries + 1, 0.5))
  expect(pauses.slice(0, 5)).toEqual([10_000, 30_000, 90_000, 270_000, 810_000])
  expect(Math.max(...pauses)).toBe(DAY)
  const days = pauses.reduce((sum, pause) => sum + pause, 0) / DAY
  expect(days).toBeGreaterThan(2.9)
  expect(days).toBeLessThan(3.25)
  expect([pauseAfter(3, 0), pauseAfter(3, 1)]).toEqual([72_000, 108_000])
})

test('after days of failures an endpoint is switched off, its owner is told once, and what it missed can be sent again', async () => {
  const client = await hooks.shop.customer()
  const endpoint = await hooks.endpoint(client, '/dead')
  await hooks.emit(delivered(client.user.id))
  await hooks.emit(delivered(client.user.id, 43))
  hooks.receiver.answer('/dead', 503)
  const [first, second] = await hooks.deliveriesTo(endpoint.id)
  if (!first || !second) throw new Error('nothing waits')
  let tries = 0
  for (; tries < 30; tries++) {
    const [row] = await hooks.deliveriesTo(endpoint.id)
    if (row?.state !== 'waiting') break
    const { pausedUntil } =
      (await hooks.shop.ctx.db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, endpoint.id)))[0] ?? {}
    const due = Math.max(row.nextAt.getTime(), pausedUntil?.getTime() ?? 0)
    hooks.shop.advance(Math.max(0, due - hooks.shop.ctx.now().getTime()) + 1)
    await hooks.deliver(first.id)
  }
  expect(tries).toBe(12)
  const [given] = await hooks.deliveriesTo(endpoint.id)
  expect(given).toMatchObject({ state: 'failed', tries: 12 })
  const [mail] = await hooks.shop.outbox.waitFor(client.user.email)
  expect(mail?.subject).toBe(`Your webhook endpoint at ${new URL(hooks.receiver.origin).host} was turned off`)
  const [off] = (await client.get<NewWebhookEndpoint[]>(ENDPOINTS)).data
  expect(off).toMatchObject({ enabled: false, off_reason: 'failing' })
  // Waiting deliveries are cancelled until the owner repeats them.
  await hooks.deliver(second.id)
  expect((await hooks.deliveriesTo(endpoint.id))[1]).toMatchObject({ state: 'cancelled', tries: 0 })
  const again = () => client.post<{ reason: string }>(`${DELIVERIES}${second.id}/resend/`)
  expect((await again()).data.reason).toBe('webhook_off')
  const { url, events } = endpoint
  await client.put(`${ENDPOINTS}${endpoint.id}/`, { url, events, enabled: true })
  hooks.receiver.answer('/dead', 200)
  expect((await again()).status).toBe(200)
  expect((await again()).data.reason).toBe('webhook_waiting')
  await hooks.deliver(second.id)
  expect((await hooks.deliveriesTo(endpoint.id))[1]).toMatchObject({ state: 'sent', tries: 1 })
  expect(hooks.shop.outbox.mails.filter(one => one.to === client.user.email)).toHaveLength(1)
})

test('410 switches an endpoint off at once; an operators’ one is told to the administrators', async () => {
  const admin = await hooks.shop.admin()
  const made = await admin.post<NewWebhookEndpoint>(`${ADMIN}/endpoints/`, {
    url: `${hooks.receiver.origin}/gone`,
    events: ['server.up']
  })
  await hooks.emit({ type: 'server.up', userId: null, data: { server_id: 1 } })
  hooks.receiver.answer('/gone', 410)
  await hooks.deliverTo(made.data.id)
  expect(await readEndpoint(made.data.id)).toMatchObject({ enabled: false, offReason: 'gone' })
  const raised = await raisedNotices(hooks.shop.ctx.db)
  expect(raised.map(({ title }) => title)).toContainEqual(expect.stringContaining('was turned off'))
})

test('a test is tried once, and its failure says nothing of how long events fail', async () => {
  const { client, endpoint } = await waiting('/tested')
  hooks.receiver.answer('/tested', 500)
  const { data } = await client.post<{ delivery_id: number }>(`${ENDPOINTS}${endpoint.id}/test/`)
  await hooks.deliver(data.delivery_id)
  expect(await readDelivery(data.delivery_id)).toMatchObject({ state: 'failed', type: 'webhook.test', tries: 1 })
  expect(await readEndpoint(endpoint.id)).toMatchObject({ failures: 0, failingSince: null })
})

test('while an endpoint rests after a failure, the events behind it cost no tries', async () => {
  const { client, endpoint, id } = await waiting('/resting')
  for (let n = 0; n < 20; n++) await hooks.emit(delivered(client.user.id, n + 1))
  hooks.receiver.answer('/resting', 500)
  await hooks.deliverTo(endpoint.id)
  expect(hitsOf('/resting')).toBe(1)
  const rest = await hooks.deliveriesTo(endpoint.id)
  expect(rest.filter(row => row.tries === 0 && row.state === 'waiting')).toHaveLength(20)
  expect(await readDelivery(id)).toMatchObject({ tries: 1 })
})

test('an endpoint gets no more than sixty a minute', async () => {
  const { client, endpoint } = await waiting('/flooded')
  const minute = new Date(Math.floor(hooks.shop.ctx.now().getTime() / MINUTE) * MINUTE)
  // A minute has just begun, so that none ends during the test.
  hooks.shop.advance(minute.getTime() + MINUTE - hooks.shop.ctx.now().getTime())
  const countedSince = new Date(minute.getTime() + MINUTE)
  const { db } = hooks.shop.ctx
  await db.update(webhookEndpoints).set({ countedSince, sent: 59 }).where(eq(webhookEndpoints.id, endpoint.id))
  await hooks.emit(delivered(client.user.id))
  await hooks.deliverTo(endpoint.id)
  expect((await hooks.deliveriesTo(endpoint.id)).filter(row => row.state === 'sent')).toHaveLength(1)
  expect((await readEndpoint(endpoint.id)).sent).toBe(60)
})

test('two jobs for one delivery send it once, and one that died is taken up', async () => {
  const { id } = await waiting('/twice')
  let release: () => void = () => {}
  const held = new Promise<void>(resolve => (release = resolve))
  hooks.receiver.answer('/twice', reply => void held.then(() => reply.end()))
  const first = hooks.deliver(id)
  await expect.poll(() => hitsOf('/twice')).toBe(1)
  await expect(deliverWebhook(hooks.shop.ctx, SENDING, id, 'another job')).rejects.toThrow('Another job')
  release()
  await first
  expect(hitsOf('/twice')).toBe(1)
  // A dead job's old claim does not block it.
  const ago = new Date(hooks.shop.ctx.now().getTime() - 2 * MINUTE)
  await hooks.shop.ctx.db
    .update(webhookDeliveries)
    .set({ state: 'waiting', jobId: 'dead', claimedAt: ago, nextAt: ago, endedAt: null })
    .where(eq(webhookDeliveries.id, id))
  await hooks.deliver(id)
  expect(hitsOf('/twice')).toBe(2)
})

test('what waits for an endpoint that was deleted, or whose owner was banned, is not sent', async () => {
  const { client, endpoint, id } = await waiting('/deleted')
  await client.post(`${ENDPOINTS}${endpoint.id}/rotate_secret/`)
  await client.delete(`${ENDPOINTS}${endpoint.id}/`)
  await hooks.deliver(id)
  expect(await readDelivery(id)).toMatchObject({ state: 'cancelled' })
  expect(hitsOf('/deleted')).toBe(0)
  // Its log stays, its secrets do not.
  expect((await hooks.log(client)).map(row => row.id)).toEqual([id])
  expect(await readEndpoint(endpoint.id)).toMatchObject({ secret: Buffer.alloc(0), formerSecret: null })
  const banned = await waiting('/banned')
  await hooks.shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, banned.client.user.id))
  await hooks.deliver(banned.id)
  expect(await readDelivery(banned.id)).toMatchObject({ state: 'cancelled' })
  expect(hitsOf('/banned')).toBe(0)
})

test('deliveries that lost their job get one again', async () => {
  const { id } = await waiting('/forgotten')
  await hooks.shop.ctx.db.execute(sql`delete from pgboss.job where singleton_key = ${String(id)}`)
  const ago = new Date(hooks.shop.ctx.now().getTime() - HOUR)
  await hooks.shop.ctx.db.update(webhookDeliveries).set({ nextAt: ago }).where(eq(webhookDeliveries.id, id))
  expect(await sweepDeliveries(hooks.shop.ctx)).toBeGreaterThan(0)
  const { rows } = await hooks.shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'send-webhook' and singleton_key = ${String(id)}`
  )
  expect(rows).toHaveLength(1)
})

test('the log is kept for a month, but for what still waits; a deleted account leaves nothing', async () => {
  const { db } = hooks.shop.ctx
  const [done, open] = [await waiting('/kept'), await waiting('/kept')]
  await hooks.deliver(done.id)
  const long = fromNow(hooks.shop.ctx, -40 * DAY)
  const events = [(await readDelivery(done.id)).eventId, (await readDelivery(open.id)).eventId]
  for (const event of events) await db.update(webhookEvents).set({ at: long }).where(eq(webhookEvents.id, event))
  const remove = webhookRetention.find(entry => entry.what === 'webhook_events')
  await command(hooks.shop.ctx, SYSTEM, async unit => remove?.remove(unit, fromNow(hooks.shop.ctx, -30 * DAY), 100))
  expect(await db.$count(webhookDeliveries, eq(webhookDeliveries.id, done.id))).toBe(0)
  expect(await db.$count(webhookAttempts, eq(webhookAttempts.deliveryId, done.id))).toBe(0)
  expect(await readDelivery(open.id)).toMatchObject({ state: 'waiting' })
  await command(hooks.shop.ctx, SYSTEM, unit => forgetEndpoints(unit, open.client.user.id))
  expect(await db.$count(webhookDeliveries, eq(webhookDeliveries.id, open.id))).toBe(0)
})

test('what names lead to in the own network is told to operators, not to customers', async () => {
  const resolving = (...addresses: string[]) => ({ resolve: async () => addresses })
  const admin = await hooks.shop.admin()
  const client = await hooks.shop.customer()
  for (const [who, at, told] of [
    [client, ENDPOINTS, { failure: 'unresolved', detail: null, duration_ms: 0 }],
    [admin, `${ADMIN}/endpoints/`, { failure: 'not_public', detail: '10.0.0.7' }]
  ] as const) {
    const form = { url: 'https://db.corp.example/', events: [who === client ? 'order.delivered' : 'server.down'] }
    const { data } = await who.post<NewWebhookEndpoint>(at, form)
    await who.post(`${at}${data.id}/test/`)
    await hooks.deliverTo(data.id, resolving('10.0.0.7'))
    const [delivery] = await hooks.deliveriesTo(data.id)
    const log = who === client ? DELIVERIES : `${ADMIN}/deliveries/`
    const shown = (await who.get<WebhookDeliveryDetail>(`${log}${delivery?.id}/`)).data
    expect(shown.attempts).toMatchObject([told])
    expect(shown.failure).toBe(told.failure)
    // Support sees the reason, even for customers' endpoints.
    const asOperator = (await admin.get<WebhookDeliveryDetail>(`${ADMIN}/deliveries/${delivery?.id}/`)).data
    expect(asOperator.attempts).toMatchObject([{ failure: 'not_public', detail: '10.0.0.7' }])
  }
})
