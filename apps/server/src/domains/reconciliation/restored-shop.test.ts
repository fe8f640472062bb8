import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Health, Proxy } from '@netlet/contract'
import { backUp, restore } from '../../backup/commands.ts'
import { backupsIn, lockFrom } from '../../backup/seal.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { randomCode } from '../../infra/secrets.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { storeEvent } from '../commerce/index.ts'
import { readRestored } from '../settings/index.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { createHttpApp } from '../../app.ts'
import { openApp, type OpenApp } from '../../open-app.ts'
import { createTestClient, type TestClient } from '../../testing/client.ts'
import {
  buy,
  inState,
  ordersOf,
  paidEvent,
  pay,
  place,
  PLAN_VARIANT,
  proxiesOf,
  ruleVariant,
  through
} from '../../testing/buying.ts'
import { createJobRunner, type JobRunner } from '../../testing/drain.ts'
import { databaseUrl, withClient } from '../../testing/server.ts'
import { addSession } from '../../testing/session.ts'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { allJobs } from '../../workers.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { eventually } from '../../testing/test-stack.ts'
import { SESSION_COOKIE } from '../accounts/index.ts'
import { variants } from '../catalog/tables.ts'
import { audit } from '../inventory/index.ts'
import { wrongBooks } from '../statements/books-check.ts'
import { startPaymentStack, type PaymentStack } from '../payments/stack.fixture.ts'

const NAME = `netlet_restored_${Math.random().toString(36).slice(2)}`
const CHANGED_SECRET = 'the secret that the shop got since the backup'
const env = { BACKUP_PASSPHRASE: 'five words that are only a test' }

let old: PaymentStack
let restored: OpenApp
let runner: JobRunner
let url: string
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  old = await startPaymentStack('127.89.0.0/25')
  ends.push(() => old.stack.close())
}, 120_000)
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** Backs the shop up; the result restores that moment into a database of its own and opens the shop on it. */
async function backedUp(): Promise<() => Promise<void>> {
  const { config } = old.stack.ctx
  const folder = await mkdtemp(join(tmpdir(), 'netlet-backup-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  const around = {
    env: { ...env, DATABASE_URL: config.databaseUrl, APP_SECRET: config.appSecret },
    say: () => {},
    signal: new AbortController().signal,
    lock: lockFrom(env, 10)
  }
  // APP_SECRET changes with the restore: what follows from the former one is still found.
  const changed = { APP_SECRET: CHANGED_SECRET, APP_SECRET_PREVIOUS: config.appSecret }
  await backUp({ to: folder }, around)
  return async () => {
    await restore({ file: (await backupsIn(folder))[0], into: NAME }, { ...around, env: { ...around.env, ...changed } })
    ends.push(() =>
      withClient(config.databaseUrl, client => client.query(`drop database if exists ${NAME} with (force)`))
    )
    await old.shop.stop()
    const there = {
      ...config,
      databaseUrl: databaseUrl(config.databaseUrl, NAME),
      appSecret: CHANGED_SECRET,
      formerAppSecret: config.appSecret
    }
    restored = await openApp(there, { worker: false })
    ends.push(() => restored.close())
    runner = createJobRunner(restored.ctx, allJobs)
    ends.push(() => runner.close())
    const app = await createHttpApp(restored.ctx)
    await app.listen({ host: '127.0.0.1', port: old.shop.port })
    ends.push(() => app.close())
    url = old.shop.url
  }
}

/** Signs a customer or administrator in to the restored shop. */
async function signedIn(email: string): Promise<TestClient> {
  const { rows } = await restored.ctx.db.execute<{ id: number }>(sql`select id from users where email = ${email}`)
  const client = createTestClient(url)
  client.cookies.set(SESSION_COOKIE, await addSession(restored.ctx, rows[0]?.id ?? 0))
  return client
}

const work = async (proxies: Proxy[]) =>
  (await Promise.all(proxies.map(proxy => through(proxy, `${old.stack.platform.url}/echo`)))).every(
    status => status === 200
  )

const SCHEDULED = new Set([
  'time-out-orders',
  'expire-orders',
  'end-graces',
  'rescue-orders',
  'sweep-deliveries',
  'check-servers',
  'repair-fleet',
  'recover-after-restore'
])

/** What workers do each minute, as far as it ends orders or talks to agents. */
async function minutes(): Promise<void> {
  for (const job of allJobs.filter(({ queue }) => SCHEDULED.has(queue.name)))
    await job.run(restored.ctx, {} as never, 'scheduled')
  await runner.drain()
}

test('a restored shop cuts off no customer who has paid since its backup, and finds each of their orders once', async () => {
  const { stack, rule } = old
  // Each agent counts a quota from when it was sent, which the shop does not know any more.
  await stack.ctx.db.update(variants).set({ trafficGb: 1 })
  const before = await buy(stack, old.buyer, 8, [rule])
  const kept = await proxiesOf(old.buyer, before.id)
  // One customer has placed an order when the backup is made. Another one is not known yet.
  const early = await stack.customer(old.shop.url, 'early')
  const placed = await place(stack, early, 8, [rule])
  const goBack = await backedUp()
  await pay(placed.data.checkout_url)
  const first = await inState(stack, early, placed.data.order_id, 'delivered')
  // This order stays unpaid, so the late order's addresses are not the first ones that are free after the restore.
  expect((await place(stack, early, 8, [rule])).code).toBe(2000)
  const late = await stack.customer(old.shop.url, 'late')
  const second = await buy(stack, late, 16, [rule])
  const served = [
    { email: 'early@example.com', order: first, proxies: await proxiesOf(early, first.id) },
    { email: 'late@example.com', order: second, proxies: await proxiesOf(late, second.id) }
  ]
  const all = [...kept, ...served.flatMap(({ proxies }) => proxies)]
  expect(await work(all)).toBe(true)

  await goBack()
  const { ctx } = restored
  // The reservation of the early order is over. The backup was made while an agent received changes, so that the
  // database knows the agent's latest mark, but not all of them.
  await ctx.db.execute(sql`update orders set reserved_until = ${new Date(Date.now() - MINUTE)} where state = 'placed'`)
  const { mark } = await old.one(sql`select mark from agent_ties`)
  await ctx.db.execute(sql`update agent_ties set next_mark = ${mark}`)
  const boss = await signedIn('boss1@example.com')
  const since = async () => (await boss.get<Health>('/api/settings/health/')).data.database?.recovering_since
  // The platform is away: the shop waits for it, sells nothing, and leaves the agents as they are.
  await control(stack.platform, 'POST', '/graphql/faults', { kind: 'error500', next: 100 })
  await runner.atStart()
  await minutes()
  expect(await since()).toEqual(expect.any(String))
  const { rows: waiting } = await ctx.db.execute(sql`select order_id from orders where state = 'placed'`)
  expect(waiting).toEqual([{ order_id: placed.data.order_id }])
  const customer = await signedIn('buyer1@example.com')
  const refused = await customer.post('/api/orders/checkout', {
    product_id: stack.productId,
    quantity: 8,
    option_selected: { option1: 'New York', acl_selected: [rule] }
  })
  expect(refused).toMatchObject({ status: 503, msg: expect.stringContaining('restored from a backup') })
  expect(await work(all)).toBe(true)

  await ctx.db.execute(sql`update agent_ties set next_mark = null`)
  await control(stack.platform, 'POST', '/graphql/faults', { kind: 'none' })
  await runner.atStart()
  await eventually('the recovery', async () => {
    await minutes()
    expect(await work(all)).toBe(true)
    return (await since()) === null
  })
  await eventually('the deliveries', async () => {
    await minutes()
    expect(await work(all)).toBe(true)
    const { rows } = await restored.ctx.db.execute(sql`select 1 from orders where state <> 'delivered'`)
    return rows.length === 0
  })
  for (const { email, order, proxies } of served) {
    const mine = await signedIn(email)
    const [found, ...more] = await ordersOf(mine)
    expect(more).toEqual([])
    expect(found).toMatchObject({ order_id: order.order_id, state: 'delivered', pay_status: 1, amount: order.amount })
    const line = ({ ip, port, username, password }: Proxy) => `${ip}:${port}:${username}:${password}`
    expect((await proxiesOf(mine, found?.id ?? 0)).map(line).toSorted()).toEqual(proxies.map(line).toSorted())
  }
  const { rows } = await ctx.db.execute(sql`select count(*)::int as payments, count(distinct order_id)::int as orders,
    bool_and(accepted) as accepted from payments`)
  expect(rows).toEqual([{ payments: 3, orders: 3, accepted: true }])
  expect(await wrongBooks(ctx.db)).toEqual([])
  expect(await audit(ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
  // Nothing waits for an operator, and the shop sells again.
  const { rows: troubles } = await ctx.db.execute(sql`select trouble, failing_since, offline from servers`)
  expect(troubles).toEqual([{ trouble: null, failing_since: null, offline: false }])
  const again = await place(stack, customer, 8, [rule])
  expect(again.code).toBe(2000)
})

test('only a payment since the backup, for one plan with its rules and with an address, brings a lost order back', async () => {
  const { ctx } = restored
  const since = (await readRestored(ctx.db))?.backupAt.getTime() ?? 0
  const paidNow = new Date(since + MINUTE).toISOString()
  let serial = 0
  const tell = async (more: object, lines = { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 8 }) => {
    const publicId = `NL-${randomCode(16)}`
    const payload = { ...paidEvent({ publicId, amount: '20.00', test: true, lines }), created_at: paidNow, ...more }
    const eventId = `orders/paid lost-${++serial}`
    await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'orders/paid', payload }))
    await handleEvent(ctx, eventHandlers, eventId)
    const { rows } = await ctx.db.execute(sql`select outcome from platform_events where event_id = ${eventId}`)
    return rows[0]?.['outcome']
  }
  const email = 'lost@example.com'
  expect(await tell({ email, created_at: new Date(since - HOUR).toISOString() })).toBe('unknown_order')
  expect(await tell({ email, created_at: new Date(since + 3 * DAY).toISOString() })).toBe('unknown_order')
  expect(await tell({ email: null })).toBe('unknown_order')
  // The platform reports an order that ended unpaid if it counted a promo code.
  expect(await tell({ email, financial_status: 'expired' })).toBe('not_paid')
  expect(await tell({ email }, { [PLAN_VARIANT]: 8 })).toBe('unknown_order')
  expect(await tell({ email }, { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 16 })).toBe('unknown_order')
  expect(await tell({ email: 'boss1@example.com' })).toBe('unknown_order')
  expect(await tell({ email, note_attributes: [{ name: 'order_id', value: "NL-'; drop table x" }] })).toBe(
    'unknown_order'
  )
  expect(await ordersOf(await signedIn('buyer1@example.com'))).toHaveLength(2)
  expect((await ctx.db.execute(sql`select 1 from users where email = ${email}`)).rows).toEqual([])
  expect(await tell({ email })).toBe('settled')
  const lost = await signedIn(email)
  expect(await ordersOf(lost)).toHaveLength(1)
  expect(await tell({ email }, { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 8, '555': 1 })).toBe('settled')
  expect(await ordersOf(lost)).toHaveLength(2)
})
