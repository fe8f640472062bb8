import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, expect, test } from 'vitest'
import type { NewWebhookEndpoint } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { startJobs } from '../../infra/job.ts'
import { startTestShop } from '../../testing/shop.ts'
import { emitEvent } from './emit.ts'
import { webhookJobs } from './jobs.ts'
import { startReceiver } from './receiver.fixture.ts'
import { webhookRoutes } from './routes.ts'
import { webhookEndpoints } from './tables.ts'
import { delivered, ENDPOINTS, SENDING } from './webhooks.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const receiver = useStarted(startReceiver)
const shop = useStarted(() =>
  startTestShop({
    routes: (mount, ctx) => webhookRoutes(mount, ctx, SENDING),
    queues: jobs.map(job => job.queue),
    workers: ctx => startJobs(ctx, jobs),
    config: { webhookOrigins: [receiver.origin], customerWebhookUrls: [`${receiver.origin}/`] }
  })
)

const jobs = webhookJobs({ ...SENDING, timeoutMs: 60_000 })

// Before the shop, whose jobs must not wait for hanging requests.
afterAll(() => receiver.close())

const emit = (userId: number) => command(shop.ctx, SYSTEM, unit => emitEvent(unit, delivered(userId)))
const hitsOf = (path: string) => receiver.got.filter(one => one.path === path).length

/** Waiting requests, and a function that ends one with a failure. */
const held: (() => void)[] = []
const hang = (path: string) => receiver.answer(path, reply => void held.push(() => reply.writeHead(500).end()))
const release = () => held.shift()?.()

async function customerAt(path: string) {
  const client = await shop.customer()
  const url = `${receiver.origin}${path}`
  const made = await client.post<NewWebhookEndpoint>(ENDPOINTS, { url, events: ['order.delivered'] })
  expect(made.status).toBe(200)
  return { id: client.user.id, endpointId: made.data.id }
}

test('hanging endpoints do not delay customers whose endpoints reply', async () => {
  const quick = await customerAt('/quick')
  await emit(quick.id)
  await expect.poll(() => hitsOf('/quick')).toBe(1)
  // It has shown that it replies.
  const lastMs = async () =>
    (await shop.ctx.db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, quick.endpointId)))[0]?.lastMs ??
    null
  await expect.poll(lastMs).not.toBe(null)
  const paths = ['/slow1', '/slow2', '/slow3', '/slow4', '/slow5', '/slow6']
  for (const path of paths) {
    hang(path)
    const slow = await customerAt(path)
    for (let n = 0; n < 3; n++) await emit(slow.id)
  }
  // All common places are taken, one for each customer.
  await expect.poll(() => paths.reduce((sum, path) => sum + hitsOf(path), 0)).toBe(4)
  for (const path of paths) expect(hitsOf(path)).toBeLessThanOrEqual(1)
  for (let n = 0; n < 5; n++) await emit(quick.id)
  await expect.poll(() => hitsOf('/quick')).toBe(6)
  expect(paths.reduce((sum, path) => sum + hitsOf(path), 0)).toBe(4)
  for (const path of paths) receiver.answer(path, 500)
  while (held.length > 0) release()
})

test('a new endpoint waits for none of those that are known to hang', async () => {
  const paths = Array.from({ length: 12 }, (_, n) => `/known${n}`)
  const hits = () => paths.reduce((sum, path) => sum + hitsOf(path), 0)
  for (const path of paths) {
    hang(path)
    const slow = await customerAt(path)
    await shop.ctx.db.update(webhookEndpoints).set({ failures: 1 }).where(eq(webhookEndpoints.id, slow.endpointId))
    await emit(slow.id)
  }
  await expect.poll(hits).toBe(4)
  const fresh = await customerAt('/new')
  await emit(fresh.id)
  expect(hitsOf('/new')).toBe(0)
  release()
  await expect.poll(() => hitsOf('/new')).toBe(1)
  // It got one of four places, before the eight that had waited longer.
  expect(hits()).toBeLessThanOrEqual(5)
})
