import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health, InboxEntry } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pay, place } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { DAY } from '../../infra/clock.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { writeSettings } from '../settings/index.ts'
import { reconcilePayments } from './reconcile.ts'
import { later } from '../../testing/later.ts'

type Node = Record<string, unknown>

let stack: TestStack
let buyer: TestClient
let admin: TestClient
let front: ReturnType<typeof createServer>
/** Changes the platform's reply about changed orders on its way to the shop. */
let bend: (nodes: Node[]) => void = () => {}
let status = 200
let through = ''

/** A proxy that changes the platform's replies. */
async function startFront() {
  front = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    const answer = async () => {
      const text = await forward(request.url ?? '/', Buffer.concat(chunks).toString())
      response.writeHead(status, { 'content-type': 'application/json' }).end(text)
    }
    request.on('end', () => void answer())
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

async function forward(path: string, body: string): Promise<string> {
  const reply = await fetch(stack.platform.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': 'platform token' },
    body
  })
  const read = (await reply.json()) as { data?: { orders?: { nodes: Node[] } } }
  if (read.data?.orders) bend(read.data.orders.nodes)
  return JSON.stringify(read)
}

beforeAll(async () => {
  stack = await startTestStack({ range: '127.62.0.0/25', ruleCount: 1, processes: true })
  const shop = await stack.startShop('serve')
  buyer = await stack.customer(shop.url, 'buyer1')
  admin = await stack.admin(shop.url, 'boss1')
  through = await startFront()
  await writeSettings(stack.ctx, { shopify_shop_url: through })
}, 120_000)
beforeEach(() => {
  bend = () => {}
  status = 200
})
afterAll(async () => {
  front?.closeAllConnections()
  front?.close()
  await stack?.close()
})

/** Pays an order whose webhook is lost. @param change of its checkout's address */
async function paidUnheard(change: (checkout: URL) => void = () => {}): Promise<string> {
  const placed = (await place(stack, buyer, 8, [stack.rules[0] ?? 0])).data
  await fetch(`${stack.platform.url}/sandbox/webhooks/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'drop' })
  })
  const checkout = new URL(placed.checkout_url.replace(through, stack.platform.url))
  change(checkout)
  await pay(checkout.href)
  return placed.order_id
}

const inDays = (days: number) => later(stack.ctx, days * DAY)
const health = async () => (await admin.get<Health>('/api/settings/health/')).data.platform?.reconciliation

/** The ids of the events about an order. */
async function eventsOf(publicId: string): Promise<string[]> {
  const { rows } = await stack.ctx.db.execute<{ event_id: string }>(
    sql`select event_id from platform_events where strpos(payload::text, ${publicId}) > 0 order by id`
  )
  return rows.map(row => row.event_id)
}
const named = (publicId: string) => (node: Node) => JSON.stringify(node['customAttributes']).includes(publicId)

test('a payment is found even long after the last reconciliation', async () => {
  await reconcilePayments(stack.ctx)
  await paidUnheard()
  expect(await reconcilePayments(inDays(30))).toBe(1)
  expect(await reconcilePayments(inDays(31))).toBe(0)
})

test('what the platform sold before this shop existed is no payment of it', async () => {
  const unnamed = await paidUnheard(({ searchParams }) => {
    for (const name of [...searchParams.keys()].filter(key => /^(attributes|note)/.test(key))) searchParams.delete(name)
  })
  let sold = stack.ctx.now().getTime() - 700 * DAY
  bend = nodes => {
    for (const node of nodes.filter(one => !JSON.stringify(one).includes('order_id')))
      node['createdAt'] = new Date(sold).toISOString()
  }
  expect(await reconcilePayments(stack.ctx)).toBe(0)
  sold = stack.ctx.now().getTime()
  expect(await reconcilePayments(stack.ctx)).toBe(1)
  expect(unnamed).toMatch(/^NL-/)
})

let odd = ''
test('an odd order keeps no other payment from being found, and stands in the inbox', async () => {
  odd = await paidUnheard()
  const fine = await paidUnheard()
  bend = nodes => {
    for (const node of nodes.filter(named(odd))) node['totalReceivedSet'] = null
  }
  expect(await reconcilePayments(stack.ctx)).toBe(2)
  expect(await reconcilePayments(stack.ctx)).toBe(0)
  expect(await health()).toMatchObject({ error: null })
  expect(await eventsOf(odd)).toEqual([expect.stringMatching(/^reconciled:unreadable:/)])
  expect(await eventsOf(fine)).toEqual([expect.stringMatching(/^reconciled:\d+$/)])
  // A worker handles it like any other event, and cannot read it.
  const worker = await stack.startShop('worker')
  await stack.eventually('the odd order in the inbox', async () => {
    const inbox = await admin.get<{ data: InboxEntry[] }>('/api/payments/inbox/?unresolved=1')
    return inbox.data.data.some(entry => entry.outcome === 'unreadable')
  })
  await worker.kill()
})

test('a reconciliation that fails says so on the health page, and goes on from where it was', async () => {
  const unheard = await paidUnheard()
  status = 503
  await expect(reconcilePayments(stack.ctx)).rejects.toThrow('503')
  expect((await health())?.error).toContain('503')
  status = 200
  // The odd order can be read now, so it is found as well.
  await reconcilePayments(inDays(10))
  for (const order of [odd, unheard])
    expect(await eventsOf(order)).toContainEqual(expect.stringMatching(/^reconciled:\d+$/))
  expect((await health())?.error).toBeNull()
})

test('if no order can be read, that is one failure and not an entry for each', async () => {
  for (let n = 0; n < 6; n++) await paidUnheard()
  bend = nodes => {
    for (const node of nodes) node['lineItems'] = 'none'
  }
  await expect(reconcilePayments(stack.ctx)).rejects.toThrow('can be read')
  expect((await health())?.error).toContain('can be read')
  bend = () => {}
  expect(await reconcilePayments(stack.ctx)).toBe(6)
})
