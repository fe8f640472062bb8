import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { writeSettings } from './domains/settings/index.ts'
import { readConfig } from './infra/config.ts'
import { StartupError } from './infra/db/migrate.ts'
import { openApp } from './open-app.ts'
import { createTestDatabase, type TestDatabase } from './testing/database.ts'
import { startRelay } from './testing/relay.ts'
import { withClient } from './testing/server.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const SECRET = 'a secret of the tests and of nothing else'
const PUBLIC_URL = 'https://shop.example.com'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

/** Starts the shop and waits for its end. */
async function start(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [main, 'serve'], {
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)))
  }
  // After 'close', because some output may come after its exit.
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, lines }
}

/** One line, and an exit code that tells a supervisor about the failure. */
async function refusesToStart(env: Record<string, string>, words: RegExp): Promise<void> {
  const { code, lines } = await start(env)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(words)
  expect(code).toBe(1)
}

/** Opens the shop in this process. */
const open = (databaseUrl: string) =>
  openApp(readConfig({ DATABASE_URL: databaseUrl, APP_SECRET: SECRET, PUBLIC_URL }), { worker: false })

test('a database that does not answer is named by its address, without its password', async () => {
  const refused = open('postgres://netlet:hidden@127.0.0.1:9/netlet')
  await expect(refused).rejects.toThrow(StartupError)
  await expect(refused).rejects.toThrow(/The database does not respond.*127\.0\.0\.1:9/)
  await expect(refused).rejects.not.toThrow('hidden')
  const url = new URL(database.url)
  url.username = 'another_user'
  await expect(open(url.href)).rejects.toThrow(StartupError)
})

test('a database of a newer version is not touched', async () => {
  const newer = await createTestDatabase()
  try {
    await withClient(newer.url, client =>
      client.query(`insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 9999999999999)`)
    )
    await expect(open(newer.url)).rejects.toThrow(/newer version of Netlet/)
  } finally {
    await newer.drop()
  }
})

test('another APP_SECRET than the one of the database is named in one line, and changes nothing', async () => {
  const own = await createTestDatabase()
  try {
    const { ctx, close } = await open(own.url)
    const kept = () => ctx.db.execute(sql`select key, secret from settings order by key`)
    const before = (await kept()).rows
    const APP_SECRET = `${SECRET}!`
    const refused = /^APP_SECRET is not the one that sealed/
    const another = () => openApp(readConfig({ DATABASE_URL: own.url, APP_SECRET, PUBLIC_URL }), { worker: false })
    const started = another()
    await expect(started).rejects.toThrow(StartupError)
    await expect(started).rejects.toThrow(refused)
    expect((await kept()).rows).toEqual(before)
    // A database of an earlier version has no such value: its secret settings tell.
    await ctx.db.execute(sql`delete from settings`)
    await writeSettings(ctx, { sendgrid_api_key: 'sealed' })
    await expect(another()).rejects.toThrow(refused)
    expect((await kept()).rows).toHaveLength(1)
    await close()
    await (await open(own.url)).close()
    await expect(another()).rejects.toThrow(refused)
  } finally {
    await own.drop()
  }
})

test('with its port in use it names the port and the setting', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  try {
    const env = { DATABASE_URL: database.url, APP_SECRET: SECRET, PUBLIC_URL, HOST: '127.0.0.1', PORT: String(port) }
    await refusesToStart(env, new RegExp(`Port ${port} is in use.*PORT`))
  } finally {
    other.close()
  }
})

/** A role that acts as ours, but may have only so many connections. */
async function limitedRole(most: number): Promise<{ url: string; limit(most: number): Promise<unknown> }> {
  const url = new URL(database.url)
  const [name, owner] = [`limited_${randomBytes(4).toString('hex')}`, decodeURIComponent(url.username)]
  const limit = (count: number) =>
    withClient(database.url, client => client.query(`alter role ${name} connection limit ${count}`))
  await withClient(database.url, client =>
    client.query(`create role ${name} login password 'secret' connection limit ${most} in role "${owner}";
      alter role ${name} set role "${owner}"`)
  )
  url.username = name
  url.password = 'secret'
  return { url: url.href, limit }
}

test('a start waits while the database has no free connection, and says so once', async () => {
  const role = await limitedRole(0)
  const said = vi.spyOn(console, 'error').mockReturnValue()
  try {
    const config = readConfig({ DATABASE_URL: role.url, APP_SECRET: SECRET, PUBLIC_URL, LOG_LEVEL: 'silent' })
    await expect(openApp(config, { worker: false, patienceMs: 0 })).rejects.toThrow(/too many connections for role/)
    const opening = openApp(config, { worker: true })
    await vi.waitFor(() => expect(said).toHaveBeenCalledOnce(), { timeout: 30_000 })
    // One connection is enough for the migration, and not for the rest.
    await role.limit(1)
    await expect.poll(() => said.mock.calls).toHaveLength(1)
    await role.limit(20)
    await (await opening).close()
    expect(said.mock.calls).toEqual([[expect.stringMatching(/^The database is busy: too many connections/)]])
  } finally {
    said.mockRestore()
  }
}, 120_000)

test('a worker answers health and metrics on a port of its own, and says when it starts and ends', async () => {
  const env = { DATABASE_URL: database.url, APP_SECRET: SECRET, PUBLIC_URL, WORKER_PORT: '0' }
  const child = fork(main, ['worker'], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: []
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text))
  try {
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    const read = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    expect([await read('/healthz'), await read('/readyz'), await read('/metrics')]).toEqual([200, 200, 200])
    expect(await read('/api/plans/')).toBe(404)
    child.kill('SIGTERM')
    const [code] = (await once(child, 'close')) as [number | null]
    expect(code).toBe(0)
    const lines = said.split('\n').flatMap(line => (line ? [JSON.parse(line) as { msg: string; why?: string }] : []))
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['started', 'ending', 'ended']))
    expect(lines.find(({ msg }) => msg === 'ending')?.why).toBe('SIGTERM')
  } finally {
    child.kill('SIGKILL')
  }
}, 60_000)

test('asked to end while its database is silent, it ends before it would be killed', async () => {
  const relay = await startRelay(database.url)
  const env = { DATABASE_URL: relay.url, APP_SECRET: SECRET, PUBLIC_URL, HOST: '127.0.0.1', PORT: '0' }
  const child = fork(main, ['all'], {
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: []
  })
  try {
    await once(child, 'message')
    relay.mute()
    const asked = Date.now()
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect(Date.now() - asked).toBeLessThan(10_000)
  } finally {
    child.kill('SIGKILL')
    relay.stop()
  }
}, 60_000)
