import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import { startJobs } from '../../../infra/job.ts'
import { startTestShop, type TestShop } from '../../../testing/shop.ts'
import { servers } from '../../servers/tables.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../../inventory/inventory.fixture.ts'
import { assignCidrs, reserve } from '../../inventory/index.ts'
import { orders } from '../../orders/tables.ts'
import { deliveryJobs } from '../jobs.ts'
import { checkTaskQueue } from '../queues.ts'
import { proxies } from '../tables.ts'
import { checkSlice, requestTaskIn } from '../tasks.ts'
import { deliveryRefusal } from '../../payments/index.ts'

const jobs = deliveryJobs({ acceptPayment: () => async () => undefined }).filter(
  ({ queue }) => queue === checkTaskQueue
)

let shop: TestShop
/** Works on no jobs. */
let idle: TestShop
const listeners: Server[] = []
const open = new Set<Socket>()
let asked: string[] = []
let silentPort = 0
let refusingPort = 0

async function listen(onConnect: (socket: Socket) => void): Promise<number> {
  const server = createServer(socket => {
    open.add(socket)
    socket.on('error', () => {})
    onConnect(socket)
  })
  listeners.push(server)
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  silentPort = await listen(socket => void asked.push(socket.localAddress ?? ''))
  refusingPort = await listen(socket => {
    asked.push(socket.localAddress ?? '')
    socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n')
  })
  const queues = jobs.map(({ queue }) => queue)
  shop = await startTestShop({ routes: () => undefined, queues, workers: ctx => startJobs(ctx, jobs) })
  idle = await startTestShop({ routes: () => undefined, queues })
})

afterAll(async () => {
  for (const socket of open) socket.destroy()
  await shop?.close()
  await idle?.close()
  for (const listener of listeners) listener.close()
})

let count = 0

/** Delivered orders of one customer, with these numbers of proxies. */
async function addDelivered({ ctx: { db } }: TestShop, port: number, quantities: number[]): Promise<number[]> {
  count += 1
  const serverId = await addServer(db, `fair ${count}`)
  await db.update(servers).set({ proxyPort: port }).where(eq(servers.id, serverId))
  const rule = await addRule(db, `Fair ${count}`)
  await inTransaction(db, assignCidrs, serverId, [`127.${100 + count}.0.0/21`])
  const groupId = await addGroup(db, `fair ${count}`, [serverId])
  const ids = await addOrders(db, groupId, quantities.length)
  for (const [nth, orderId] of ids.entries()) {
    const quantity = quantities[nth] ?? 1
    const lease = await db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity }))
    if (!lease.ok) throw new Error(lease.reason)
    await db.execute(sql`
      insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state)
      select now(), now(), ${orderId}::bigint, ${lease.leaseId}::bigint, ${serverId}::bigint,
        ('127.' || ${100 + count}::int || '.' || ${nth}::int || '.0')::inet + n, 'live'
      from generate_series(0, ${quantity - 1}::int) n`)
    await db.execute(sql`
      update orders set state = 'delivered', quantity = ${quantity}, amount = ${quantity}, delivery_num = ${quantity},
        paid_at = now(), pay_amount = ${quantity}, expired_at = now() + interval '1 day' where id = ${orderId}`)
  }
  return ids
}

async function ask({ ctx }: TestShop, orderId: number) {
  const asked = await command(ctx, SYSTEM, unit =>
    requestTaskIn(unit, orderId, 'check', { userId: null, deliveryRefusal })
  )
  if (!asked.ok) throw new Error(asked.reason)
  return asked.data.task_id
}

const taskOf = async ({ ctx }: TestShop, orderId: number) => {
  const [row] = await ctx.db
    .select({ task: orders.task, done: orders.taskDone, at: orders.taskAt })
    .from(orders)
    .where(eq(orders.id, orderId))
  return row
}

test('a check works for a slice of time, shows its progress, and goes on where it stopped', async () => {
  const [orderId = 0] = await addDelivered(idle, refusingPort, [250])
  const taskId = await ask(idle, orderId)
  const since = (await taskOf(idle, orderId))?.at ?? idle.ctx.now()
  asked = []
  const job = { orderId, taskId }
  for (const done of [100, 200]) {
    await checkSlice(idle.ctx, job, since, { sliceMs: 0 })
    expect(await taskOf(idle, orderId)).toMatchObject({ task: 'check', done })
    const { rows } = await idle.ctx.db.execute(
      sql`select 1 from pgboss.job where name = 'check-order' and state = 'created' and data ->> 'taskId' = ${taskId}`
    )
    expect(rows).toHaveLength(1)
  }
  await checkSlice(idle.ctx, job, since, { sliceMs: 0 })
  expect(await taskOf(idle, orderId)).toMatchObject({ task: null, done: null })
  // Three sites each, none of them twice.
  expect(asked).toHaveLength(3 * 250)
  const rows = await idle.ctx.db.select().from(proxies).where(eq(proxies.orderId, orderId))
  expect(rows.every(row => row.available === 0)).toBe(true)
})

test("a customer's big orders of silent proxies do not keep another one's check waiting", async () => {
  const big = await addDelivered(shop, silentPort, [300, 300, 300, 300, 300])
  const [small = 0] = await addDelivered(shop, refusingPort, [4])
  for (const orderId of big) await ask(shop, orderId)
  await expect.poll(() => open.size).toBeGreaterThan(100)
  await ask(shop, small)
  await expect.poll(async () => (await taskOf(shop, small))?.task).toBeNull()
  const tasks = await Promise.all(big.map(orderId => taskOf(shop, orderId)))
  expect(tasks.map(row => row?.task)).toEqual(big.map(() => 'check'))
})
