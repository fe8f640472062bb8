import { createHmac } from 'node:crypto'
import { routes } from '@netlet/contract'
import { inArray, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets, until } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { storeEvent, sweepEvents } from './events.ts'
import { commerceJobs } from './jobs.ts'
import { handleProductEvents } from './product-events.ts'
import { applyProductEventQueue } from './queues.ts'
import { commerceRoutes } from './routes.ts'
import { platformEvents } from './tables.ts'
import type { EventHandlers } from './topics.ts'
import { later } from '../../testing/later.ts'

let shop: TestShop
/** The handlers' calls, in order. */
let handled: string[] = []

const handlers = {
  'orders/paid': async () => ({ outcome: 'settled' }),
  'products/update': async (_unit, event) => {
    handled.push(`${event.id} ${event.title}`)
    return { outcome: 'applied' }
  },
  'products/delete': async (_unit, { id }) => {
    handled.push(`${id} deleted`)
    return { outcome: 'withdrawn' }
  }
} as Partial<EventHandlers> as EventHandlers

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => commerceRoutes(mount, ctx),
    jobs: commerceJobs(handlers).filter(({ queue }) => !queue.name.includes('webhooks'))
  })
  await writeSettings(shop.ctx, { shopify_api_secret: secrets.appSecret })
})
beforeEach(async () => {
  await shop.drain()
  await shop.ctx.db.delete(platformEvents)
  handled = []
})
afterAll(() => shop?.close())

const START = Date.UTC(2026, 4, 1)
const update = (id: number, at: number | null, more: object = {}) => ({
  id,
  title: `at ${at}`,
  status: 'active',
  tags: '',
  ...(at === null ? {} : { updated_at: new Date(START + at * 1000).toISOString() }),
  ...more
})

let count = 0
async function store(payloads: unknown[], topic = 'products/update'): Promise<string[]> {
  const ids = payloads.map(() => `storm-${(count += 1)}`)
  await command(shop.ctx, SYSTEM, async unit => {
    for (const [at, eventId] of ids.entries()) await storeEvent(unit, { eventId, topic, payload: payloads[at] })
  })
  return ids
}
const outcomes = async (ids: string[]) => {
  const rows = await shop.ctx.db.select().from(platformEvents).where(inArray(platformEvents.eventId, ids))
  return ids.map(id => rows.find(row => row.eventId === id)?.outcome)
}

/** How many statements `work` sends to the database. */
async function statements(work: () => Promise<unknown>): Promise<number> {
  const client = await shop.ctx.db.$client.connect()
  const session = Object.getPrototypeOf(client) as { query: (...all: unknown[]) => unknown }
  client.release()
  const sent = vi.spyOn(session, 'query')
  try {
    await work()
    return sent.mock.calls.length
  } finally {
    sent.mockRestore()
  }
}

test('of hundreds of updates of a few products each newest one is handled, however they come', async () => {
  const times = Array.from({ length: 60 }, (_, at) => (at * 37) % 60)
  const few = await store([1, 2, 3].map(id => update(id, 1)))
  const jobsOfFew = await statements(() => shop.drain())
  handled = []
  const ids = await store(times.flatMap(at => [1, 2, 3].map(id => update(id, at))))
  const jobsOfMany = await statements(async () => {
    const ran = await shop.drain()
    expect(ran).toEqual(Array(3).fill(applyProductEventQueue.name))
  })
  expect(handled.toSorted()).toEqual(['1 at 59', '2 at 59', '3 at 59'])
  expect((await outcomes(few)).concat(await outcomes(ids)).filter(one => one === 'applied')).toHaveLength(6)
  expect((await outcomes(ids)).filter(one => one === 'ignored')).toHaveLength(177)
  // Sixty events of a product take as much work as one, plus a statement that ends the others.
  expect(jobsOfMany).toBeLessThanOrEqual(jobsOfFew + 3)
  // Their payloads are not kept.
  expect(await shop.ctx.db.$count(platformEvents, sql`${platformEvents.payload} <> '{}'`)).toBe(0)
})

test('a product with events during its handling is handled again, and by two concurrent workers only once', async () => {
  await store([update(7, 1), update(7, 3), update(7, 2)])
  const job = { topic: 'products/update', product: '7' }
  await Promise.all(Array.from({ length: 8 }, () => handleProductEvents(shop.ctx, handlers, job)))
  expect(handled).toEqual(['7 at 3'])
  await store([update(7, 4)])
  await shop.drain()
  expect(handled).toEqual(['7 at 3', '7 at 4'])
})

test('only events that say when they were are passed over; what is no product is handled by itself', async () => {
  const undated = await store([update(8, null), update(8, 5), update(8, 4), update(8, null, { title: 'undated' })])
  const deleted = await store([{ id: 8 }], 'products/delete')
  const strange = await store([{ id: 'x'.repeat(5000) }, { id: 'x'.repeat(5000) }, [], 'text', { id: null }])
  await shop.drain()
  expect(await outcomes(undated)).toEqual(['applied', 'applied', 'ignored', 'applied'])
  expect(await outcomes(deleted)).toEqual(['withdrawn'])
  expect(handled).toEqual(['8 at null', '8 undated', '8 at 5', '8 deleted'])
  expect(await outcomes(strange)).toEqual(Array(5).fill('unreadable'))
})

test('if the jobs of an import are lost, one for each product is enqueued', async () => {
  await store(Array.from({ length: 60 }, (_, at) => update(9 + (at % 2), at)))
  await shop.ctx.db.execute(sql`delete from pgboss.job where name = ${applyProductEventQueue.name}`)
  await sweepEvents(later(shop.ctx, 6_000))
  expect(await shop.drain()).toHaveLength(2)
  expect(handled.toSorted()).toEqual(['10 at 59', '9 at 58'])
})

test('an import of the platform waits for few connections, and a payment for none of it', async () => {
  const dataDir = await newDataDir()
  const sandbox: Sandbox = await launch(dataDir, shop.url)
  let busy = 0
  let most = 0
  const take = () => (most = Math.max(most, (busy += 1)))
  const give = () => (busy -= 1)
  const pool = shop.ctx.db.$client
  pool.on('acquire', take)
  pool.on('release', give)
  try {
    const { events } = await control<{ events: number }>(sandbox, 'POST', '/products/import', { times: 5 })
    expect(events).toBe(50)
    await until('the import to be stored', async () => (await shop.ctx.db.$count(platformEvents)) === events)
    // Two connections that store, and this test's own.
    expect(most).toBeLessThanOrEqual(4)
    const ran = await shop.drain()
    expect(ran.length).toBeLessThanOrEqual(10)
    expect(handled).toHaveLength(10)
  } finally {
    pool.off('acquire', take)
    pool.off('release', give)
    await sandbox.close()
    await removeDataDir(dataDir)
  }
})

test('product events beyond the queue’s limit are refused and sent again, while payments are accepted', async () => {
  const send = (path: string, topic: string, id: string, payload: unknown) => {
    const body = JSON.stringify(payload)
    return fetch(shop.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-shopify-topic': topic,
        'x-shopify-webhook-id': id,
        'x-shopify-hmac-sha256': createHmac('sha256', secrets.appSecret).update(body).digest('base64')
      },
      body
    }).then(reply => reply.status)
  }
  const { productWebhook, payWebhook } = routes.orders
  const ids = Array.from({ length: 230 }, (_, at) => at)
  const tell = (at: number) => send(productWebhook.path, 'products/update', `p${at}`, update(at, 1))
  const blocked = async () => {
    const { rows } = await shop.ctx.db.execute(
      sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    )
    return rows.length
  }
  let open = () => {}
  const held = new Promise<void>(resolve => (open = resolve))
  const inserted = Promise.withResolvers<void>()
  // Simulates slow rows of the catalogue. Two events are handled at a time.
  const holding = shop.ctx.db.transaction(async tx => {
    for (const id of ['products/update p0', 'products/update p1'])
      await tx.execute(sql`
        insert into platform_events (event_id, topic, payload, received_at)
        values (${id}, 'products/update', '{}', ${shop.ctx.now()})`)
    inserted.resolve()
    await held
  })
  await inserted.promise
  const sent = ids.slice(0, 2).map(tell)
  await until('both to wait', async () => (await blocked()) === 2)
  sent.push(...ids.slice(2).map(tell))
  expect(await Promise.race(sent)).toBe(503)
  expect(await send(payWebhook.path, 'orders/paid', 'paid', { id: 1 })).toBe(200)
  open()
  await holding
  const statuses = await Promise.all(sent)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
})
