import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { sql } from './infra/db/drizzle.ts'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startAgent } from '../../agent/src/agent.ts'
import { readConfig as readAgentConfig } from '../../agent/src/config.ts'
import { newDataDir, removeDataDir, secrets } from '../../sandbox/src/testing/harness.ts'
import { startSandbox } from '../../sandbox/src/sandbox.ts'
import { DAYS } from '../../../scripts/demo/history/story.ts'
import { prepareHistory } from '../../../scripts/demo/history/prepare.ts'
import { freePorts } from './testing/free-ports.ts'
import { seed } from '../../../scripts/demo/seed.ts'
import type { DemoSettings } from '../../../scripts/demo/settings.ts'
import { proxyChecksOf } from './domains/delivery/index.ts'
import { readStatusPage } from './domains/status/page.ts'
import { countLowStock } from './domains/catalog/index.ts'
import { readAttention } from './domains/home/attention.ts'
import { audit } from './domains/inventory/index.ts'
import { wrongBooks } from './domains/statements/books-check.ts'
import { reconcilePayments } from './domains/reconciliation/reconcile.ts'
import { DAY } from './infra/clock.ts'
import { readConfig } from './infra/config.ts'
import type { AppContext } from './infra/context.ts'
import { openApp } from './open-app.ts'
import { through } from './testing/buying.ts'
import { databaseUrl, withClient } from './testing/server.ts'

const database = `netlet_test_${randomBytes(8).toString('hex')}`
const end = new Date(Date.now() - 60_000)
let settings: DemoSettings
let config: ReturnType<typeof readConfig>
let ctx: AppContext
let close = async () => {}
let failed: unknown
let made = false

const onServer = (text: string) => withClient(inject('postgresUrl'), client => client.query(text))
const history = () => prepareHistory({ config, settings, end })

/** The state that a start without the history leaves. */
async function startEmpty(): Promise<void> {
  const { accessToken, appSecret } = secrets
  const { platformPort: port, dataDir } = settings
  const discord = { discordClientId: 'netlet-demo', discordClientSecret: 'discord' }
  const platform = await startSandbox({ port, dataDir, shopUrl: config.publicUrl, accessToken, appSecret, ...discord })
  const app = await openApp(config, { worker: false })
  try {
    await seed(app.ctx, { settings, platformUrl: platform.url })
  } finally {
    await app.close()
    await platform.close()
  }
}

beforeAll(async () => {
  const [port = 0, platformPort = 0, agentPort = 0, proxyPort = 0] = await freePorts(4)
  const { accessToken: platformToken, appSecret: platformSecret } = secrets
  settings = {
    dataDir: await newDataDir(),
    port,
    platformPort,
    agentPort,
    proxyPort,
    secrets: {
      appSecret: 'a secret of the tests and of nothing else',
      agentToken: 'a-token-of-the-tests-and-of-nothing-else',
      platformToken,
      platformSecret,
      discordSecret: 'discord',
      botToken: 'bot',
      hookSecret: 'whsec_aG9vaw=='
    }
  }
  config = readConfig({
    NETLET_DEMO: '1',
    DATABASE_URL: databaseUrl(inject('postgresUrl'), database),
    APP_SECRET: settings.secrets.appSecret,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    WEBHOOK_ORIGINS: `http://127.0.0.1:${platformPort}`,
    CUSTOMER_WEBHOOK_URLS: `http://127.0.0.1:${platformPort}/hooks/in/`,
    LOG_LEVEL: 'silent'
  })
  await onServer(`create database ${database}`)
  // The first try fails at the agent, which cannot listen.
  const taken = createServer().listen(agentPort, '127.0.0.1')
  await once(taken, 'listening')
  failed = await history().catch((error: unknown) => error)
  taken.close()
  await once(taken, 'close')
  // The shop starts without the history and stays unused.
  await startEmpty()
  made = await history()
  ;({ ctx, close } = await openApp(config, { worker: false }))
}, 300_000)

afterAll(async () => {
  await close()
  for (const name of [database, `${database}_history`, `${database}_before`, `${database}_used`])
    await onServer(`drop database if exists ${name} with (force)`)
  await removeDataDir(settings.dataDir)
}, 60_000)

/** The result of a query of names and numbers. */
async function figures(query: string): Promise<Record<string, number>> {
  const { rows } = await ctx.db.execute<{ name: string; count: number }>(sql.raw(query))
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

test('a try that ends half-way leaves nothing, and the next one starts over, also after an empty start', async () => {
  expect(failed).toMatchObject({ message: expect.stringContaining('in use') as string })
  expect(made).toBe(true)
  const { rows } = await onServer(`select datname from pg_database where datname like '${database}%'`)
  expect(rows).toEqual([{ datname: database }])
  expect(existsSync(join(settings.dataDir, 'history'))).toBe(false)
})

test('the demo has orders in every state, with what customers and operators did', async () => {
  expect(await figures('select state as name, count(*)::int as count from orders group by 1')).toEqual({
    placed: 1,
    timed_out: 3,
    cancelled: 2,
    failed: 1,
    delivered: 28,
    expired: 3,
    refunded: 1
  })
  expect(await figures('select state as name, count(*)::int as count from tickets group by 1')).toEqual({
    open: 3,
    answered: 2,
    closed: 1
  })
  expect(
    await figures(`select kind || ' ' || reason_code as name, count(*)::int as count from point_records
      where reason_code in ('exchange', 'set_by_admin', 'refund', 'invited') group by 1`)
  ).toEqual({ 'coins exchange': 1, 'coins set_by_admin': 1, 'level invited': 4, 'level refund': 1 })
  expect(await figures(`select 'used' as name, count(*)::int as count from coupons where is_used`)).toEqual({ used: 2 })
  expect(
    await figures(
      `select action as name, count(*)::int as count from audit_log where action like 'order.%' and action not like '%.read_%' group by 1`
    )
  ).toEqual({ 'order.change': 1, 'order.credit': 1, 'order.deliver': 1, 'order.refund': 1 })
  const renewals = `select 'renewals' as name, count(*)::int as count from payments where kind = 'renewal' and accepted`
  expect(await figures(renewals)).toEqual({ renewals: 2 })
})

test('the status page has known days, the outage in its day, and the incident about it', async () => {
  const page = await readStatusPage(ctx.db, proxyChecksOf(ctx.config), end)
  expect(page.locations.map(({ name }) => name)).toEqual(['Frankfurt', 'London', 'New York', 'Tokyo'])
  for (const { state, up, days } of page.locations) {
    const known = days.filter(day => day.state !== 'unknown')
    expect(known.length).toBeGreaterThanOrEqual(DAYS)
    expect([state, known.filter(({ down }) => down > 0).length <= 2]).toEqual(['up', true])
    const minutes = days.reduce((sum, { down }) => sum + down, 0)
    expect(minutes).toBeGreaterThanOrEqual(14)
    expect(minutes).toBeLessThanOrEqual(17)
    expect(up).toBeGreaterThan(99.8)
  }
  expect(page.current).toEqual([])
  expect(page.past).toMatchObject([{ title: 'Addresses do not answer', state: 'resolved', updates: { length: 4 } }])
  expect(await figures(`select 'named' as name, count(*)::int as count from incident_outages`)).toEqual({ named: 1 })
})

test('each of its whole days has sales', async () => {
  const days = await figures(`select (paid_at at time zone 'UTC')::date::text as name, count(*)::int as count
    from orders where paid_at is not null group by 1`)
  // Whole days only: the first and the last one may be short.
  const whole = Array.from({ length: DAYS - 2 }, (_, at) => new Date(end.getTime() - (at + 1) * DAY))
  expect(Object.keys(days)).toEqual(expect.arrayContaining(whole.map(day => day.toISOString().slice(0, 10))))
  const [{ first } = { first: '' }] = (
    await ctx.db.execute<{ first: string }>(sql`select min(paid_at)::text as first from orders`)
  ).rows
  expect(new Date(first).getTime()).toBeGreaterThan(end.getTime() - DAYS * DAY)
})

test('only what was made to need attention needs it', async () => {
  const needs = await readAttention(ctx, { lowStock: () => countLowStock(ctx.db) })
  expect(Object.fromEntries(needs.map(({ what, count }) => [what, count]))).toEqual({
    undelivered: 1,
    store_password: 0,
    webhooks: 0,
    abuse: 0,
    proofs: 0,
    payments: 2,
    late_events: 0,
    servers: 0,
    upgrades: 0,
    dead_letters: 0,
    mails: 0,
    notices: 0,
    prices: 0,
    stock: 0,
    tickets: 3
  })
})

/** A migration creates the first one. */
const MADE_BEFORE = 'notice_channels'

test('every moment that was written lies within the history', async () => {
  // The start of the shop writes these, by the machine's clock.
  await ctx.db.execute(sql`delete from settings where key in ('app_secret_check', 'kept_keys')`)
  const { rows: columns } = await ctx.db.execute<{ relation: string; name: string }>(sql`
    select table_name as relation, column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone' and is_nullable = 'NO'
      and column_name ~ '^(at|since|(created|updated|received|asked|started|leased|last_seen)_at)$'
      and table_name <> ${MADE_BEFORE}`)
  expect(columns.length).toBeGreaterThan(30)
  const start = new Date(end.getTime() - DAYS * DAY)
  for (const { relation, name } of columns) {
    const outside = sql`${sql.identifier(name)} not between ${start} and ${end}`
    const { rows } = await ctx.db.execute(
      sql`select count(*)::int as outside from ${sql.identifier(relation)} where ${outside}`
    )
    expect({ relation, ...rows[0] }).toEqual({ relation, outside: 0 })
  }
  const { rows: leases } = await ctx.db.execute(
    sql`select count(*)::int as count from leases where activated_at > ${end} or released_at > ${end} or released_at < created_at`
  )
  expect(leases).toEqual([{ count: 0 }])
})

test('the database has the real time afterwards', async () => {
  const { rows } = await ctx.db.execute<{ late: number; moved: number; set: number }>(sql`
    select extract(epoch from inventory.clock())::float8 * 1000 as late,
      (select count(*)::int from pg_class where relname = 'moved_clock') as moved,
      (select count(*)::int from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
        where d.datname = current_database()) as set`)
  expect(rows[0]).toMatchObject({ moved: 0, set: 0 })
  expect(Math.abs((rows[0]?.late ?? 0) - Date.now())).toBeLessThan(60_000)
})

test('its books hold: no address is leased twice, points and coins are those of their causes', async () => {
  expect(await audit(ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
  expect(await wrongBooks(ctx.db)).toEqual([])
})

test('the stand-in platform has the same orders: asked for what no webhook told, it has nothing new', async () => {
  const platform = await startSandbox({
    port: settings.platformPort,
    dataDir: settings.dataDir,
    shopUrl: config.publicUrl,
    accessToken: settings.secrets.platformToken,
    appSecret: settings.secrets.platformSecret,
    discordClientId: 'netlet-demo',
    discordClientSecret: settings.secrets.discordSecret
  })
  try {
    const before = await ctx.db.execute(sql`select count(*) from platform_events`)
    await ctx.db.execute(sql`delete from platform_checks where name = 'reconciliation'`)
    expect(await reconcilePayments(ctx)).toBe(0)
    expect((await ctx.db.execute(sql`select count(*) from platform_events`)).rows).toEqual(before.rows)
  } finally {
    await platform.close()
  }
})

test('the agent has the users of all live orders, and their proxies work', async () => {
  const { rows } = await ctx.db.execute<{ ip: string; username: string; password: string }>(sql`
    select distinct on (o.id) host(p.ip) as ip, o.proxy_username as username, o.proxy_password as password
    from proxies p join orders o on o.id = p.order_id where p.state = 'live' and o.state = 'delivered' order by o.id, p.ip`)
  expect(rows).toHaveLength(28)
  const agentConfig = readAgentConfig({
    AGENT_PORT: String(settings.agentPort),
    PROXY_PORT: String(settings.proxyPort),
    PROXY_HOST: '0.0.0.0',
    AGENT_TOKEN: settings.secrets.agentToken,
    AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
    AGENT_WORKERS: '0',
    DATA_DIR: settings.dataDir
  })
  if (!agentConfig.ok) throw new Error(agentConfig.message)
  const started = await startAgent(agentConfig.config, { log: pino({ level: 'silent' }) })
  if (!started.ok) throw new Error(started.message)
  const page = createServer(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')).listen(0, '127.0.0.1')
  await once(page, 'listening')
  const { port } = page.address() as { port: number }
  try {
    const answers = await Promise.all(
      rows.map(proxy => through({ ...proxy, port: settings.proxyPort }, `http://127.0.0.1:${port}/`))
    )
    expect(answers).toEqual(rows.map(() => 200))
  } finally {
    page.close()
    await started.agent.close()
  }
})

test('a second start adds nothing', async () => {
  const count = () =>
    ctx.db.execute(sql`select (select count(*) from orders) as orders, (select count(*) from audit_log) as entries`)
  const before = await count()
  expect(await history()).toBe(false)
  expect((await count()).rows).toEqual(before.rows)
})

test('a used shop without the history keeps its database', async () => {
  const used = databaseUrl(inject('postgresUrl'), `${database}_used`)
  await onServer(`create database ${database}_used`)
  await withClient(used, client =>
    client.query('create table logins (at timestamptz); insert into logins values (now())')
  )
  const platform = join(settings.dataDir, 'sandbox')
  const before = await stat(platform)
  expect(await prepareHistory({ config: { ...config, databaseUrl: used }, settings, end })).toBe(false)
  expect((await stat(platform)).ino).toBe(before.ino)
  const { rows } = await withClient(used, client => client.query('select count(*)::int as count from logins'))
  expect(rows).toEqual([{ count: 1 }])
})
