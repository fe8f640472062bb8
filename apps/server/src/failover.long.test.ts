import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkInvariants } from './backup/checks.ts'
import { isReady, type Node, startPatroni } from './failover.fixture.ts'
import { sql } from './infra/db/drizzle.ts'
import { type Supervised, supervise } from './testing/supervisor.ts'
import { ordersOf, pay, place } from './testing/buying.ts'
import { eventually, startTestStack, type TestStack } from './testing/test-stack.ts'
import type { TestClient } from './testing/client.ts'

const isInstalled = ['patroni', 'etcd', 'haproxy'].every(name => spawnSync('which', [name]).status === 0)

let cluster: Awaited<ReturnType<typeof startPatroni>>
let stack: TestStack
const processes: Supervised[] = []
let buyer: TestClient

beforeAll(async () => {
  if (!isInstalled) return
  cluster = await startPatroni()
  await eventually('a primary with a replica', () => isReady(cluster), 120_000)
  stack = await startTestStack({
    range: '127.133.0.0/16',
    database: { url: cluster.primary, drop: () => Promise.resolve() },
    processes: true
  })
  const env = { ...stack.env, DATABASE_REPLICA_URL: cluster.replica }
  const port = new URL(stack.ctx.config.publicUrl).port
  processes.push(await supervise('serve', 'serve', { ...env, PORT: port }))
  processes.push(await supervise('worker', 'worker', { ...env, PORT: '0' }))
  buyer = await stack.customer(stack.ctx.config.publicUrl, 'buyer1')
}, 300_000)
afterAll(async () => {
  for (const process of processes) await process.stop()
  await stack?.close()
  await cluster?.stop()
})

const paid: string[] = []

/** Places and pays one order. @returns false if the shop cannot sell now */
async function buyOne(): Promise<boolean> {
  const reply = await place(stack, buyer, 8, [stack.rules[0] ?? 0]).catch(() => null)
  if (reply?.code !== 2000) return false
  await pay(reply.data.checkout_url)
  paid.push(reply.data.order_id)
  return true
}

const FAULTS = {
  killed: { begin: node => node.signal('SIGKILL'), end: async node => node.start() },
  paused: { begin: node => node.signal('SIGSTOP'), end: node => node.signal('SIGCONT') },
  'cut off': {
    begin: async ({ links }) => links.forEach(link => link.close()),
    end: async ({ links }) => links.forEach(link => link.reopen())
  }
} satisfies Record<string, Record<'begin' | 'end', (node: Node) => Promise<void>>>

test.runIf(isInstalled).each(Object.entries(FAULTS))(
  'while its primary is %s the shop sells again within a minute, and loses or doubles nothing',
  async (what, { begin, end }) => {
    const primary = await eventually('a primary', async () => {
      for (const node of cluster.nodes) if (await node.isPrimary()) return node
      return null
    })
    for (let n = 0; n < 5; n++) expect(await buyOne()).toBe(true)
    const fault = begin(primary)
    const started = performance.now()
    await fault
    let lost = 0
    // What is bought until the fault takes effect counts, too.
    const other = cluster.nodes.find(node => node !== primary)
    await eventually(
      'the other one to take over',
      async () => {
        await buyOne().catch(() => (lost += 1))
        return (await other?.isPrimary()) === true
      },
      90_000
    )
    await eventually('a purchase', buyOne, 90_000)
    const seconds = (performance.now() - started) / 1000
    await end(primary)
    await eventually('the former primary to follow', () => isReady(cluster), 120_000)
    const delivered = await eventually(
      'all paid orders to be delivered',
      async () => {
        const found = new Map((await ordersOf(buyer).catch(() => [])).map(order => [order.order_id, order.state]))
        return paid.every(id => found.get(id) === 'delivered') ? found : null
      },
      120_000
    )
    console.log(
      `primary ${what}: sold again after ${seconds.toFixed(0)} s; ${delivered.size} orders, ${paid.length} paid`
    )
    const { rows } = await stack.ctx.db.execute(
      sql`select order_id from payments where accepted and kind = 'purchase' group by 1 having count(*) > 1`
    )
    expect(rows).toEqual([])
    expect(Object.values(await checkInvariants(stack.ctx.db)).every(count => count === 0)).toBe(true)
    expect(seconds).toBeLessThan(60)
    expect(lost).toBe(0)
  },
  600_000
)
