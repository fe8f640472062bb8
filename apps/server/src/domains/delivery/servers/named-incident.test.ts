import type { BulkRun, Incident, OutageCredit, OutageEntry, StatusPage } from '@netlet/contract'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../../infra/clock.ts'
import { serverOutages } from '../../servers/tables.ts'
import { aclRules } from '../../inventory/tables.ts'
import { orders } from '../../orders/tables.ts'
import { proxyChecksOf } from '../checks/index.ts'
import { proxies } from '../tables.ts'
import { startServersStack, type ServersStack } from './servers.fixture.ts'
import { addRow } from '../../../testing/rows.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.67.0.0/26')
}, 120_000)
afterAll(() => stack?.close())

test('the credit of an outage names its incident: in the mail, and to whom the order belongs', async () => {
  const { ctx, admin, first } = stack
  const id = await stack.delivered(8)
  stack.pass(3 * HOUR)
  const ago = (minutes: number) => new Date(ctx.now().getTime() - minutes * MINUTE)
  const outage = await addRow(ctx, serverOutages, { serverId: first.id, startedAt: ago(90), endedAt: ago(30) })
  const path = `/api/servers/outages/${outage.id}/`
  const { locations } = (await admin.get<StatusPage>('/api/status/')).data
  const read = async () => (await admin.get<OutageEntry>(path)).data
  expect(await read()).toMatchObject({
    incident: null,
    locations: locations.map(({ id: at, name }) => ({ id: at, name }))
  })
  const made = await admin.post<Incident>('/api/status/incidents/', {
    title: 'A broken switch',
    severity: 'major',
    locations: locations.map(location => location.id)
  })
  expect((await admin.post(`${path}credit/`, { incident_id: 999_999 })).data).toMatchObject({
    reason: 'choice_gone'
  })
  expect(await read()).toMatchObject({ incident: null, credited: 0 })
  const incident = { id: made.data.id, title: 'A broken switch' }
  await stack.finish((await admin.post<BulkRun | null>(`${path}credit/`, { incident_id: incident.id })).data)
  expect(await read()).toMatchObject({ incident, credited: 1 })
  expect(await stack.mails('outage-credited')).toHaveLength(1)
  const { rows } = await ctx.db.execute(sql`select data -> 'data' -> 'incident' as incident from pgboss.job
    where name = 'send-mail' and data ->> 'template' = 'outage-credited'`)
  expect(rows).toEqual([{ incident }])

  const credits = (who: typeof admin) => who.get<OutageCredit[]>(`/api/orders/order_list/${id}/credits/`)
  const own = await credits(stack.buyer)
  expect(own.data).toMatchObject([{ seconds: 3600, incident }])
  expect(JSON.stringify(own.data)).not.toContain('server')
  expect((await credits(admin)).data).toEqual(own.data)
  expect((await stack.buyer.get('/api/orders/order_list/999999/credits/')).status).toBe(404)
  // Without the incident the credit stays.
  await admin.delete(`/api/status/incidents/${incident.id}/`)
  expect((await credits(stack.buyer)).data).toMatchObject([{ seconds: 3600, incident: null }])
}, 60_000)

test('checks of proxies count by customer, and only if they say something about the server', async () => {
  const { ctx, first } = stack
  const { db } = ctx
  const id = await stack.delivered(8)
  const read = async (sites: Partial<typeof ctx.config.checkSites> = {}) =>
    (await proxyChecksOf({ ...ctx.config, checkSites: { ...ctx.config.checkSites, ...sites } })(db, ago(60))).get(
      first.id
    )
  const ago = (minutes: number) => new Date(ctx.now().getTime() - minutes * MINUTE)
  await db.delete(serverOutages)
  await db.update(proxies).set({ available: null, checkedAt: null })
  expect(await read()).toBeUndefined()
  await db.update(proxies).set({ available: 1, checkedAt: ago(10) })
  await db.update(proxies).set({ available: 0 }).where(eq(proxies.orderId, id))
  // Two orders of one customer: half of its proxies fail.
  expect(await read()).toEqual({ customers: 1, failing: 1, share: 0.5 })

  // A used-up quota concerns the order only, an outage is known already, and old checks say nothing.
  await db.execute(sql`insert into order_traffic (order_id, used, allowed) values (${id}, 10, 10)
    on conflict (order_id) do update set used = 10, allowed = 10`)
  expect(await read()).toEqual({ customers: 1, failing: 0, share: 0 })
  await db.execute(sql`update order_traffic set allowed = null`)
  const outage = await addRow(ctx, serverOutages, { serverId: first.id, startedAt: ago(11), endedAt: ago(9) })
  expect(await read()).toBeUndefined()
  await db.delete(serverOutages).where(eq(serverOutages.id, outage.id))
  await db.update(proxies).set({ checkedAt: ago(61) })
  expect(await read()).toBeUndefined()

  // Rules that close every check site to an order say nothing about the server either.
  await db.update(proxies).set({ checkedAt: ago(1) })
  const closed = {
    google: 'https://www.closed.example/',
    bing: 'https://closed.example/',
    amazon: 'https://closed.example/'
  }
  const rule = await addRow(ctx, aclRules, {
    name: 'closed',
    price: '1.00',
    platformVariantId: '1',
    aclValue: 'closed.example',
    domains: ['closed.example']
  })
  expect(await read(closed)).toBeUndefined()
  expect(await read({ google: closed.google })).toMatchObject({ customers: 1 })
  await db
    .update(orders)
    .set({ rules: sql`${orders.rules} || ${rule.id}::int` })
    .where(eq(orders.id, id))
  expect(await read(closed)).toEqual({ customers: 1, failing: 1, share: 1 })
}, 60_000)
