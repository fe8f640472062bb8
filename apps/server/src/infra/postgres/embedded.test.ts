import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runAs } from './account.ts'
import { findBinaries, locatePackage } from './binaries.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts'
import { startOf } from './processes.ts'
import { isLong } from '../../../../../scripts/testing/tier.ts'

const fixture = fileURLToPath(new URL('start.fixture.ts', import.meta.url))
const asRoot = process.getuid?.() === 0

let root: string
let dataDir: string
let lines: string[]
let servers: EmbeddedPostgres[]
let children: ChildProcess[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'netlet-launcher-'))
  await chmod(root, 0o755)
  dataDir = join(root, 'postgres')
  lines = []
  servers = []
  children = []
})

afterEach(async () => {
  for (const server of servers) await server.stop()
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  const real = await realpath(dataDir).catch(() => dataDir)
  await rm(real, { recursive: true, force: true })
  await rm(root, { recursive: true, force: true })
})

async function start(options: { port?: number; dataDir?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    dataDir,
    settings: { fsync: 'off' },
    log: line => lines.push(line),
    ...options
  })
  servers.push(server)
  return server
}

function startElsewhere(): { child: ChildProcess; ready: Promise<{ url: string; port: number; pid: number }> } {
  const child = spawn(process.execPath, [fixture, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const ready = Promise.race([
    once(reader, 'line').then(([line]) => JSON.parse(String(line)) as { url: string; port: number; pid: number }),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${String(code)}`)))
  ])
  ready.catch(() => undefined)
  return { child, ready }
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('waited for too long')
    await sleep(5)
  }
}

test('a second start keeps the data, the password and the encoding', async () => {
  const first = await start()
  await query(first.url, `CREATE TABLE kept AS SELECT 'Grüße 你好' AS word`)
  await first.stop()
  expect(await startOf(first.pid)).toBeUndefined()

  const second = await start()
  expect(new URL(second.url).password).toBe(new URL(first.url).password)
  expect(await query(second.url, 'SELECT word FROM kept')).toEqual([{ word: 'Grüße 你好' }])
  const [about] = await query(
    second.url,
    `SELECT current_setting('server_encoding') AS encoding, current_setting('TimeZone') AS zone,
            current_setting('listen_addresses') AS addresses, datlocale AS locale
     FROM pg_database WHERE datname = 'postgres'`
  )
  expect(about).toEqual({ encoding: 'UTF8', zone: 'UTC', addresses: '127.0.0.1', locale: 'C.UTF-8' })
})

test('a wrong password is refused, and only the owner can read the right one', async () => {
  const server = await start()
  const wrong = new URL(server.url)
  wrong.password = 'guess'
  await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
  expect((await lstat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600)
  expect((await lstat(dataDir)).mode & 0o777).toBe(0o700)
})

test('a server that outlives its killed starter is joined, and stopped by the process that joined', async () => {
  const { child, ready } = startElsewhere()
  const orphan = await ready
  await query(orphan.url, 'CREATE TABLE kept AS SELECT 1 AS id')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await startOf(orphan.pid)).toBeDefined()

  const joined = await start({ port: 1 })
  expect({ port: joined.port, pid: joined.pid }).toEqual({ port: orphan.port, pid: orphan.pid })
  expect(await query(joined.url, 'SELECT id FROM kept')).toEqual([{ id: 1 }])
  await joined.stop()
  expect(await startOf(orphan.pid)).toBeUndefined()
})

test.runIf(isLong)('a start killed while it makes the database leaves nothing that disturbs the next', async () => {
  const { child } = startElsewhere()
  await until(async () =>
    (await readdir(root, { recursive: true })).some(name => name.includes('.new-') && name.endsWith('PG_VERSION'))
  )
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await readdir(root)).not.toContain('postgres')

  const server = await start()
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  expect(await readdir(dataDir)).toContain('data')
})

test.runIf(isLong)('two processes that start at once share one server, which ends with the last of them', async () => {
  const one = startElsewhere()
  const other = startElsewhere()
  const [first, second] = await Promise.all([one.ready, other.ready])
  expect(second).toEqual(first)

  one.child.kill('SIGTERM')
  await once(one.child, 'exit')
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])

  other.child.kill('SIGTERM')
  await once(other.child, 'exit')
  expect(await startOf(second.pid)).toBeUndefined()
  expect(await readdir(root)).toEqual(['postgres'])
})

test.runIf(isLong)('a start that meets a shutdown waits for its end and starts again', async () => {
  const first = await start()
  process.kill(first.pid, 'SIGINT')
  const second = await start()
  expect(second.pid).not.toBe(first.pid)
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test.runIf(isLong)('a crashed server whose process id belongs to another program by now starts again', async () => {
  const first = await start()
  const lockFile = join(await realpath(dataDir), 'data', 'postmaster.pid')
  const lock = await readFile(lockFile, 'utf8')
  await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS id')
  await first.stop()
  const { uid, gid } = await lstat(dataDir)
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(asRoot ? { uid, gid } : {}) })
  children.push(stranger)
  await writeFile(lockFile, lock.replace(/^\d+/, String(stranger.pid)))

  const second = await start()
  expect(await query(second.url, 'SELECT id FROM kept')).toEqual([{ id: 7 }])
})

test('a taken port is replaced by a free one', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  try {
    const { port } = occupant.address() as { port: number }
    const server = await start({ port })
    expect(server.port).not.toBe(port)
    expect(await query(server.url, 'SHOW port')).toEqual([{ port: String(server.port) }])
  } finally {
    occupant.close()
  }
})

test('each unusable folder is refused with advice', async () => {
  await mkdir(join(dataDir, 'holiday pictures'), { recursive: true })
  await expect(start()).rejects.toThrow('holds something else than a database')
  await rm(dataDir, { recursive: true })

  await (await start()).stop()
  await writeFile(join(dataDir, 'data', 'PG_VERSION'), '99\n')
  await expect(start()).rejects.toThrow(/made by PostgreSQL 99; this is 18.*DATABASE_URL/)
  await writeFile(join(dataDir, 'data', 'PG_VERSION'), '18\n')

  const settings = { shared_buffers: 'plenty' }
  const refused = startEmbeddedPostgres({ dataDir, settings, log: () => undefined })
  await expect(refused).rejects.toThrow(/did not start:.*shared_buffers/)
})

test.runIf(asRoot && isLong)(
  'below a folder that only root may enter, the data stand elsewhere behind a link',
  async () => {
    await chmod(root, 0o700)
    const server = await start()
    const real = await realpath(dataDir)
    expect((await lstat(dataDir)).isSymbolicLink()).toBe(true)
    expect(real.startsWith(root)).toBe(false)
    await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS id')
    await server.stop()

    const again = await start()
    expect(await query(again.url, 'SELECT id FROM kept')).toEqual([{ id: 1 }])
    await again.stop()

    await rm(dataDir)
    const afresh = await start()
    await expect(query(afresh.url, 'SELECT id FROM kept')).rejects.toThrow('does not exist')
    await rm(real, { recursive: true })
  }
)

test.runIf(asRoot && isLong)(
  'programs that the account cannot reach are copied once, and thinned copies again',
  async () => {
    const account = { uid: 65_534, gid: 65_534 }
    const hidden = join(root, 'hidden')
    const place = join(root, 'place')
    await mkdir(hidden, { mode: 0o700 })
    await mkdir(place, { mode: 0o777 })
    await cp(locatePackage(), join(hidden, 'package'), { recursive: true, verbatimSymlinks: true })
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = place
    try {
      const [one, other] = await Promise.all([
        findBinaries(account, join(hidden, 'package')),
        findBinaries(account, join(hidden, 'package'))
      ])
      expect(one.postgres.startsWith(place)).toBe(true)
      expect(other).toEqual(one)
      expect(await readdir(place)).toHaveLength(1)
      expect(await runAs(account, one.postgres, ['--version'])).toContain('18.')

      const { ino } = await lstat(one.postgres)
      await findBinaries(account, join(hidden, 'package'))
      expect((await lstat(one.postgres)).ino).toBe(ino)

      await rm(join(dirname(dirname(one.postgres)), 'share/postgresql/timezone/UTC'))
      const repaired = await findBinaries(account, join(hidden, 'package'))
      await lstat(join(dirname(dirname(repaired.postgres)), 'share/postgresql/timezone/UTC'))
      expect(await readdir(place)).toHaveLength(1)
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
  }
)
