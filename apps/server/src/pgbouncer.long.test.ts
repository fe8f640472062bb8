import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checkDatabase } from './doctor/database.ts'
import { readConfig } from './infra/config.ts'
import { closeDatabase, openDatabase } from './infra/db/client.ts'
import { sql } from './infra/db/drizzle.ts'
import { openApp } from './open-app.ts'
import { buy, proxiesOf, through } from './testing/buying.ts'
import { createTestDatabase } from './testing/database.ts'
import { freePort } from './testing/free-ports.ts'
import { withClient } from './testing/server.ts'
import { type ShopProcess, startTestStack, type TestStack } from './testing/test-stack.ts'

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0
const settings = new URL('../../../deploy/pgbouncer/pgbouncer.ini', import.meta.url)
/** PgBouncer does not run as root. */
const ACCOUNT = { name: 'nobody', uid: 65_534 }

/** PgBouncer with the settings of deploy/, in front of a database. */
async function startPgBouncer(direct: string): Promise<{ url: string; stop(): void }> {
  const { hostname, port, username, pathname, searchParams } = new URL(direct)
  const folder = mkdtempSync(join(tmpdir(), 'netlet-pgbouncer-'))
  const own = await freePort()
  const name = pathname.slice(1)
  const host = searchParams.get('host') ?? hostname
  const password = new URL(direct).password
  const ini = readFileSync(settings, 'utf8')
    .replace(/^netlet = host=\S+ port=\d+ dbname=netlet/m, `${name} = host=${host} port=${port || 5432} dbname=${name}`)
    .replace(/^listen_port = .*/m, `listen_port = ${own}`)
    .replace(/^auth_type = .*/m, 'auth_type = plain')
    .replaceAll(/(?:\/run\/postgresql|\/etc\/pgbouncer|\/var\/log\/postgresql)/g, folder)
  writeFileSync(join(folder, 'pgbouncer.ini'), ini)
  writeFileSync(
    join(folder, 'userlist.txt'),
    `"${decodeURIComponent(username)}" "${decodeURIComponent(password) || 'any'}"\n`
  )
  chmodSync(folder, 0o755)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, ACCOUNT.uid, ACCOUNT.uid)
  const account = isRoot ? ['-u', ACCOUNT.name] : []
  const child = spawn('pgbouncer', ['-q', ...account, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' })
  await vi.waitFor(async () => expect(await answers(own)).toBe(true), { timeout: 30_000 })
  const url = new URL(direct)
  url.host = `127.0.0.1:${own}`
  url.search = ''
  if (!url.password) url.password = 'any'
  return {
    url: url.href,
    stop() {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

const answers = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = createConnection(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

describe.skipIf(!isInstalled)('behind PgBouncer in transaction mode', () => {
  let stack: TestStack
  let pooler: Awaited<ReturnType<typeof startPgBouncer>>
  let direct: string
  const shops: ShopProcess[] = []

  beforeAll(async () => {
    const database = await createTestDatabase()
    direct = database.url
    pooler = await startPgBouncer(direct)
    const env = { DATABASE_URL: pooler.url, DATABASE_SESSION_URL: direct }
    stack = await startTestStack({ range: '127.46.0.0/25', ruleCount: 2, processes: true, database, env })
    shops.push(await stack.startShop('serve'), await stack.startShop('serve'))
    await stack.startShop('worker')
    await stack.startShop('worker')
  }, 240_000)
  afterAll(async () => {
    await stack?.close()
    pooler?.stop()
  })

  test('customers log in, buy and get proxies that work, through all processes at once', async () => {
    const bought = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const client = await stack.customer(shops[n % 2]?.url ?? '', `pooled${n}`)
        const order = await buy(stack, client, 8, [stack.rules[n % 2] ?? 0])
        return { client, order }
      })
    )
    for (const { client, order } of bought) {
      const proxies = await proxiesOf(client, order.id)
      expect(proxies).toHaveLength(8)
      const [proxy] = proxies
      expect(proxy && (await through(proxy, `${stack.platform.url}/echo`))).toBe(200)
    }
  }, 240_000)

  test('sessions keep the time zone, and each process has few of its own', async () => {
    const db = openDatabase(pooler.url, { max: 2, sessionUrl: direct, pooled: true })
    try {
      await withClient(direct, client =>
        client.query(`alter database "${new URL(direct).pathname.slice(1)}" set timezone = 'Asia/Tokyo'`)
      )
      const zone = async () =>
        (await db.execute<{ zone: string }>(sql`select current_setting('TimeZone') as zone`)).rows
      expect(await zone()).toEqual([{ zone: 'UTC' }])
      const own = await withClient(direct, client =>
        client.query<{ name: string; count: number }>(
          `select application_name as name, count(*) as count from pg_stat_activity
           where datname = current_database() and application_name in ('netlet changes', 'netlet locks') group by 1`
        )
      )
      const counts = Object.fromEntries(own.rows.map(({ name, count }) => [name, count]))
      // The test, two serve with one connection to listen each, two workers with two.
      expect(counts['netlet changes']).toBe(1 + 2 + 4)
      expect(counts['netlet locks'] ?? 0).toBeLessThanOrEqual(5)
    } finally {
      await closeDatabase(db)
    }
  })

  test('a start whose two addresses lead to different databases is refused', async () => {
    const other = await createTestDatabase()
    try {
      const env = { DATABASE_URL: pooler.url, DATABASE_SESSION_URL: other.url, APP_SECRET: 'x'.repeat(32) }
      const config = readConfig({ ...env, PUBLIC_URL: 'https://shop.example.com', LOG_LEVEL: 'silent' })
      await expect(openApp(config, { worker: false })).rejects.toThrow(/lead to different databases/)
      expect((await checkDatabase(config)).findings).toContainEqual({
        level: 'wrong',
        text: expect.stringContaining('different databases') as string
      })
    } finally {
      await other.drop()
    }
  })

  test('a start that is not told of the pooler names what to set, and leaves no lock', async () => {
    const env = { DATABASE_URL: pooler.url, APP_SECRET: 'x'.repeat(32), PUBLIC_URL: 'https://shop.example.com' }
    await expect(openApp(readConfig(env), { worker: false })).rejects.toThrow(/Set DATABASE_SESSION_URL/)
    const { rows } = await withClient(direct, client =>
      client.query(`select pg_try_advisory_lock(hashtext('netlet migrations')) as free`)
    )
    expect(rows).toEqual([{ free: true }])
  })
})
