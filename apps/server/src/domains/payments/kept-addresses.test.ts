import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bulkActions } from '../../bulk-actions.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { userActor } from '../../testing/session.ts'
import { deliveryPorts } from '../../workers.ts'
import { workOnRun } from '../bulk/work-on-run.ts'
import { confirmOutcomes } from '../delivery/index.ts'
import { drainServer, giveUpServer } from '../delivery/servers/commands.ts'
import { rescueOrders } from '../delivery/servers/index.ts'
import { requestTask, runTask } from '../delivery/tasks.ts'
import { markUnreachable } from '../servers/agent-health.ts'
import { servers } from '../servers/tables.ts'
import { orderEvents } from '../orders/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'

// Four servers of 8 addresses each. If an order loses addresses, it keeps some that it was to give back.
let world: OrderShop
let buyer: Buyer
let boss: ReturnType<typeof userActor>
let time = Date.parse('2026-05-15T12:00:00Z')

beforeAll(async () => {
  const ranges = ['127.94.0.0/29', '127.94.1.0/29', '127.94.2.0/29', '127.94.3.0/29']
  world = await startOrderShop({ ranges, now: () => new Date(time) })
  buyer = await world.customer('keeper')
  const admin = await world.admin('boss')
  boss = userActor(admin.user.id, { username: admin.user.username, isSuperuser: true })
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 100, customer_changes_per_term: 50, quarantine_hours: 0 })
}, 120_000)
afterAll(() => world?.close())
beforeEach(async () => {
  await world.shop.ctx.db.update(servers).set({ status: 'active', offline: false, connected: true })
  await world.endAll()
})

const idOf = (nth: number): number => world.serverIds[nth] ?? 0
const setStatus = (status: 'active' | 'paused', ...nths: number[]) =>
  world.shop.ctx.db
    .update(servers)
    .set({ status })
    .where(inArray(servers.id, nths.map(idOf)))
const confirm = (...nths: number[]) => world.confirm(nths.map(idOf))

async function buy(quantity: number): Promise<number> {
  const order = await world.place(buyer, quantity)
  await world.pay(order)
  return order.id
}

async function ask(id: number, task: 'change' | 'reset'): Promise<void> {
  const { ctx } = world.shop
  const deliveryRefusal = async () => null
  const asked = await requestTask(ctx, userActor(buyer.user.id), id, task, { userId: buyer.user.id, deliveryRefusal })
  if (!asked.ok) throw new Error(asked.reason)
  await runTask(ctx, deliveryPorts, { orderId: id, taskId: asked.data.task_id })
}

/** @param work whether the bulk run works on its orders */
async function leave(how: typeof giveUpServer, nth: number, { work = true } = {}): Promise<void> {
  const { ctx } = world.shop
  const asked = await how(ctx, boss, idOf(nth))
  if (!asked.ok) throw new Error(asked.reason)
  if (work && asked.data) while (await workOnRun(ctx, bulkActions, asked.data.id));
}

async function rescue(): Promise<void> {
  time += MINUTE
  await rescueOrders(world.shop.ctx)
}

/** Addresses that the order has and keeps, by server. */
async function kept(id: number): Promise<Record<number, number>> {
  const { rows } = await world.shop.ctx.db.execute<{ server: number; addresses: number }>(sql`
    select c.server_id as server, sum(b.length) as addresses from leases l
    join lease_blocks b on b.lease_id = l.id join chunks c on c.id = b.chunk_id
    where l.order_id = ${id} and not l.replaced and b.released_at is null group by 1`)
  return Object.fromEntries(rows.map(({ server, addresses }) => [world.serverIds.indexOf(server), addresses]))
}

/** 16 old addresses on servers 1 and 2, which go. New ones on 3 work, and those on 0 do not work yet. */
async function halfChanged(): Promise<number> {
  await setStatus('paused', 0, 3)
  const id = await buy(16)
  await confirm(1, 2)
  await setStatus('active', 0, 3)
  await ask(id, 'change')
  await confirm(1, 2, 3)
  return id
}

test('none of a server that is given up as well, whose run has not come to the order', async () => {
  const id = await halfChanged()
  await leave(giveUpServer, 0, { work: false })
  await leave(giveUpServer, 1, { work: false })
  await rescue()
  await confirm(2, 3)
  await rescue()
  expect(await kept(id)).toEqual({ 2: 8, 3: 8 })
  expect(await world.row(id)).toMatchObject({ state: 'delivered', deliveryNum: 16, failCode: null })
})

test('those of a server that answers before those of one that does not', async () => {
  const id = await halfChanged()
  await command(world.shop.ctx, SYSTEM, unit => markUnreachable(unit, idOf(1), { code: 'unreachable' }))
  await leave(giveUpServer, 0)
  await confirm(2, 3)
  expect(await kept(id)).toEqual({ 2: 8, 3: 8 })
})

test('the customer gets no mail about lost addresses if all are kept, and the history says that they are', async () => {
  const { db } = world.shop.ctx
  await setStatus('paused', 1, 2, 3)
  const id = await buy(8)
  await confirm(0)
  await setStatus('active', 1)
  await leave(drainServer, 0)
  await leave(giveUpServer, 1)
  expect(await kept(id)).toEqual({ 0: 8 })
  expect(await world.row(id)).toMatchObject({ state: 'delivered', deliveryNum: 8, failCode: null })
  const history = await db.select().from(orderEvents).where(eq(orderEvents.orderId, id)).orderBy(orderEvents.id)
  const { detail } = history.findLast(({ kind }) => kind === 'moved') ?? {}
  expect(detail).toMatchObject({ cause: 'given_up', addresses: 8, kept: 8, to: null })
  const { rows } = await db.execute(sql`
    select data from pgboss.job where name = 'raise-notice' and data ->> 'key' like ${`given-up:${idOf(1)}:%`}`)
  expect(rows).toEqual([])
})

test('what is lost is leased again also while another agent refuses the order', async () => {
  await setStatus('paused', 2, 3)
  const id = await buy(16)
  await confirm(0, 1)
  await ask(id, 'reset')
  await confirm(1)
  await confirmOutcomes(world.shop.ctx)([id], async ({ tx }) => {
    await tx.execute(sql`update agent_users set refusal = 'no' where order_id = ${id} and server_id = ${idOf(0)}`)
  })
  await leave(giveUpServer, 1)
  expect(await kept(id)).toEqual({ 0: 8 })
  await setStatus('active', 2)
  await rescue()
  expect(await kept(id)).toEqual({ 0: 8, 2: 8 })
})
