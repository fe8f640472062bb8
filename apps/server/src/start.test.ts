import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
async function start(env: Record<string, string>, mode = 'serve'): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [main, mode], {
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

test('a setting that is missing is one line that says what to set', () =>
  refusesToStart({ APP_SECRET: SECRET }, /Set DATABASE_URL/))

/** Opens the shop in this process. */
const open = (databaseUrl: string) =>
  openApp(readConfig({ DATABASE_URL: databaseUrl, APP_SECRET: SECRET, PUBLIC_URL }), { worker: false })

test('a database that does not answer is named by its address, without its password', async () => {
  const refused = open('postgres://netlet:hidden@127.0.0.1:9/netlet')
  await expect(refused).rejects.toThrow(StartupError)
  await expect(refused).rejects.toThrow(/The database does not answer.*127\.0\.0\.1:9/)
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
    await refusesToStart({ DATABASE_URL: own.url, APP_SECRET, PUBLIC_URL }, refused)
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
