import { RETAINED, RETENTION_SETTINGS, type RetentionFigures } from '@netlet/contract'
import { and, eq, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { platformEvents } from './domains/commerce/tables.ts'
import { proxies } from './domains/delivery/tables.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './domains/inventory/inventory.fixture.ts'
import { activate, assignCidrs, release, reserve, addressHolders } from './domains/inventory/index.ts'
import { orderEvents, orders } from './domains/orders/tables.ts'
import { applyRetention } from './domains/retention/figures.ts'
import { retentionJobs } from './domains/retention/index.ts'
import { DAY } from './infra/clock.ts'
import type { Job } from './infra/job.ts'
import { auditLog } from './infra/tables.ts'
import { retention } from './retention.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'
import { allQueues } from './workers.ts'
import { addRow } from './testing/rows.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ queues: allQueues })
})
afterAll(() => shop.close())

const ago = (days: number) => new Date(shop.ctx.now().getTime() - days * DAY)
let count = 0

/** Orders that each hold an address in a reservation. */
async function addReserved(quantity: number) {
  const { db } = shop.ctx
  count += 1
  const serverId = await addServer(db, `kept ${count}`)
  const rule = await addRule(db, `Kept ${count}`)
  await inTransaction(db, assignCidrs, serverId, [`127.${60 + count}.0.0/24`])
  const groupId = await addGroup(db, `kept ${count}`, [serverId])
  const ids = await addOrders(db, groupId, quantity)
  const leased = new Map<number, number>()
  for (const orderId of ids) {
    const lease = await db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity: 1 }))
    if (!lease.ok) throw new Error(lease.reason)
    leased.set(orderId, lease.leaseId)
    await addRow(shop.ctx, orderEvents, { orderId, kind: 'time_out' })
  }
  return { ids, serverId, leaseOf: (orderId: number) => leased.get(orderId) ?? 0 }
}

async function timeOut(orderId: number, days: number, state: 'timed_out' | 'cancelled' = 'timed_out') {
  const { db } = shop.ctx
  await db.transaction(tx => release(tx, { orderId }))
  await db
    .update(orders)
    .set({ state, createdAt: ago(days) })
    .where(eq(orders.id, orderId))
}

const remaining = async (ids: number[]) => {
  const { rows } = await shop.ctx.db.execute<{ id: number; leases: number; blocks: number; events: number }>(sql`
    select o.id, (select count(*) from leases where order_id = o.id) as leases,
      (select count(*) from lease_blocks b join leases l on l.id = b.lease_id where l.order_id = o.id) as blocks,
      (select count(*) from order_events where order_id = o.id) as events
    from orders o where o.id = any(${sql.param(ids)}) order by o.id`)
  return rows
}

test('an order that was never paid goes after its time, with its history and its reservation', async () => {
  const { ids } = await addReserved(5)
  const [timedOut = 0, cancelled = 0, fresh = 0, paid = 0, holding = 0] = ids
  await timeOut(timedOut, 31)
  await timeOut(cancelled, 31, 'cancelled')
  await timeOut(fresh, 29)
  await timeOut(paid, 31)
  await shop.ctx.db.execute(sql`insert into payments (order_id, platform_order_id, platform_order_number, kind, amount,
      discount, accepted, created_at) values (${paid}, 'late', '#1', 'purchase', 1, 0, false, now())`)
  await shop.ctx.db
    .update(orders)
    .set({ state: 'timed_out', createdAt: ago(31) })
    .where(eq(orders.id, holding))
  // Two concurrent runs.
  await Promise.all([applyRetention(shop.ctx, retention), applyRetention(shop.ctx, retention)])
  expect(await remaining(ids)).toEqual([fresh, paid, holding].map(id => ({ id, leases: 1, blocks: 1, events: 1 })))
  const { rows } = await shop.ctx.db.execute<{ left: number }>(
    sql`select count(*) as left from lease_blocks where not exists (select 1 from leases where id = lease_id)`
  )
  expect(rows).toEqual([{ left: 0 }])
})

test('who had an address is still known after its retired proxies are gone', async () => {
  const { db } = shop.ctx
  const { ids, serverId, leaseOf } = await addReserved(2)
  const [gone = 0, serving = 0] = ids
  const ips = new Map<number, string>()
  for (const orderId of ids) {
    await db.transaction(tx => activate(tx, orderId))
    const { rows } = await db.execute<{ ip: string }>(sql`
      select host(inventory.address_at(c.base, b.start)) as ip from lease_blocks b join chunks c on c.id = b.chunk_id
      where b.lease_id = ${leaseOf(orderId)}`)
    const ip = rows[0]?.ip ?? ''
    ips.set(orderId, ip)
    const proxy = { orderId, leaseId: leaseOf(orderId), serverId, ip, state: 'retired', updatedAt: ago(91) } as const
    await addRow(shop.ctx, proxies, proxy)
  }
  await addRow(shop.ctx, proxies, {
    orderId: gone,
    leaseId: leaseOf(gone),
    serverId,
    ip: ips.get(gone) ?? '',
    state: 'retired',
    updatedAt: ago(89)
  })
  await db.transaction(tx => release(tx, { orderId: gone }))
  await applyRetention(shop.ctx, retention)
  const left = await db.select({ orderId: proxies.orderId }).from(proxies).orderBy(proxies.orderId)
  // The younger one, and the one whose lease was not released.
  expect(left.map(row => row.orderId)).toEqual([gone, serving])
  expect((await addressHolders(db, { ip: ips.get(gone) ?? '' })).map(held => held.orderId)).toContain(gone)
})

test('a platform event first loses its payload, then goes; one that waits for an administrator stays whole', async () => {
  const { db } = shop.ctx
  const event = (
    eventId: string,
    days: number,
    outcome: 'settled' | 'unknown_order' | null,
    topic = 'orders/paid'
  ) => ({
    eventId,
    topic,
    payload: { name: '#1' },
    receivedAt: ago(days),
    outcome,
    needsResolution: outcome === 'unknown_order',
    processedAt: outcome === null ? null : ago(days)
  })
  await db.insert(platformEvents).values([
    event('fresh', 89, 'settled'),
    event('emptied', 91, 'settled'),
    // The inbox reads it to know whether it is open.
    event('derived', 92, 'settled', 'reconciled/doubt'),
    event('removed', 731, 'settled'),
    event('open', 731, 'unknown_order'),
    event('waiting', 731, null)
  ])
  await applyRetention(shop.ctx, retention, { batch: 1 })
  const left = await db
    .select({ eventId: platformEvents.eventId, payload: platformEvents.payload })
    .from(platformEvents)
    .orderBy(platformEvents.receivedAt, platformEvents.eventId)
  expect(left).toEqual([
    { eventId: 'open', payload: { name: '#1' } },
    { eventId: 'waiting', payload: { name: '#1' } },
    { eventId: 'derived', payload: { name: '#1' } },
    { eventId: 'emptied', payload: {} },
    { eventId: 'fresh', payload: { name: '#1' } }
  ])
})

test('the settings say how long, within bounds, and administrators see what was found and removed', async () => {
  const { db } = shop.ctx
  const admin = await shop.admin()
  const entry = { actorName: 'x', action: 'order.x', targetType: 'order', targetId: '1' }
  await db.insert(auditLog).values([
    { ...entry, at: ago(400) },
    { ...entry, at: ago(360) }
  ])
  const { version } = (await admin.get<{ version: string }>('/api/settings/config')).data
  const save = (keep_audit_days: number) => admin.post('/api/settings/config', { keep_audit_days, version })
  expect(await save(30)).toMatchObject({ code: 400 })
  expect(await save(365)).toMatchObject({ code: 2000 })
  await applyRetention(shop.ctx, retention)
  expect(await db.$count(auditLog, and(eq(auditLog.action, 'order.x')))).toBe(1)
  const { data } = await admin.get<RetentionFigures[]>('/api/settings/retention')
  expect(data.map(({ what }) => what).toSorted()).toEqual([...RETAINED].toSorted())
  expect(data.flatMap(({ setting }) => setting ?? []).toSorted()).toEqual([...RETENTION_SETTINGS].toSorted())
  expect(data.find(({ what }) => what === 'audit_log')).toMatchObject({
    setting: 'keep_audit_days',
    keep_hours: 365 * 24,
    removed: 1,
    oldest: expect.stringContaining(ago(360).toISOString().slice(0, 10)),
    rows: await db.$count(auditLog)
  })
  expect(await (await shop.customer()).get('/api/settings/retention')).toMatchObject({ code: 403 })
})

test('an entry that fails keeps none of the others from being worked on', async () => {
  const later = vi.fn(async () => 0)
  const [first] = retention
  if (!first) throw new Error('nothing is removed')
  await applyRetention(shop.ctx, [
    {
      ...first,
      remove: async () => {
        throw new Error('the table is locked')
      }
    },
    { ...first, remove: later }
  ])
  expect(later).toHaveBeenCalledOnce()
})

/** Runs the job until no other follows. @returns the data of each run */
async function runAll(job: Job, most: number): Promise<object[]> {
  const { db } = shop.ctx
  const runs: object[] = [{}]
  for (let run = 0; run < most; run += 1) {
    await db.execute(sql`delete from pgboss.job where name = 'apply-retention'`)
    await job.run(shop.ctx, runs.at(-1) as never, `run ${run}`)
    const { rows } = await db.execute<{ data: object }>(sql`select data from pgboss.job where name = 'apply-retention'`)
    if (!rows[0]) return runs
    runs.push(rows[0].data)
  }
  return runs
}

test('a run that takes too long stops between two kinds of rows, and the next one goes on from there', async () => {
  const [template] = retention
  if (!template) throw new Error('nothing is removed')
  const worked: string[] = []
  const endless = (['sessions', 'captchas', 'jobs'] as const).map(what => ({
    ...template,
    what,
    remove: async () => {
      worked.push(what)
      return 1
    }
  }))
  const [job] = retentionJobs(endless, { runMs: 0 })
  if (!job) throw new Error('there is no job')
  // Each had a turn, although the first one would have filled every run.
  expect(await runAll(job, 5)).toEqual([{}, { from: 'captchas' }, { from: 'jobs' }])
  expect(worked).toEqual(['sessions', 'captchas', 'jobs'])
})

test('a run that is to go on with what is kept no longer begins with the first', async () => {
  const [template] = retention
  if (!template) throw new Error('nothing is removed')
  const remove = vi.fn(async () => 0)
  expect(await applyRetention(shop.ctx, [{ ...template, remove }], { from: 'of an earlier version' })).toBeNull()
  expect(remove).toHaveBeenCalledOnce()
})
