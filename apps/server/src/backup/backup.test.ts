import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { buy, place } from '../testing/buying.ts'
import { readRehearsal } from '../domains/settings/index.ts'
import { DAY } from '../infra/clock.ts'
import { knownMigrations, migrate } from '../infra/db/migrate.ts'
import { databaseUrl, withClient } from '../testing/server.ts'
import { startPaymentStack, type PaymentStack } from '../domains/payments/stack.fixture.ts'
import { backUp, restore, type RestoreOptions } from './commands.ts'
import { frameOf } from './format.ts'
import { lockFrom, writeBackup } from './seal.ts'

const PASSPHRASE = 'five words hard to guess'
let shop: PaymentStack
let folder: string
let url: string
let secret: string
/** What the first test restores. */
const copy = { name: '', url: '' }

beforeAll(async () => {
  shop = await startPaymentStack('127.88.0.0/25')
  await buy(shop.stack, shop.buyer, 8, [shop.rule])
  ;({ databaseUrl: url, appSecret: secret } = shop.stack.ctx.config)
  folder = await mkdtemp(join(tmpdir(), 'netlet-backup-'))
}, 120_000)
afterAll(async () => {
  await removeDatabase(copy.name)
  await shop?.stack.close()
  await rm(folder, { recursive: true, force: true })
})

type Around = { env?: NodeJS.ProcessEnv; signal?: AbortSignal; at?: string }

/** Runs a command as its process would. @returns the lines that it prints */
async function run(work: typeof backUp | typeof restore, options: object, around: Around = {}): Promise<string[]> {
  const env = { DATABASE_URL: url, APP_SECRET: secret, BACKUP_PASSPHRASE: PASSPHRASE, ...around.env }
  const lines: string[] = []
  await work(options, {
    env,
    say: line => lines.push(line),
    signal: around.signal ?? new AbortController().signal,
    lock: lockFrom(env, 10),
    now: () => (around.at === undefined ? new Date() : new Date(around.at))
  })
  return lines
}

const made = (options: object = {}, around: Around = {}) => run(backUp, { to: folder, ...options }, around)
const restored = (options: RestoreOptions, around: Around = {}) => run(restore, options, around)

function nameDatabase(): { name: string; url: string } {
  const name = `netlet_restored_${Math.random().toString(36).slice(2)}`
  return { name, url: databaseUrl(url, name) }
}

const removeDatabase = (name: string) =>
  withClient(url, client => client.query(`drop database if exists ${name} with (force)`))

/** A name of a database that this test makes; it is removed afterwards. */
function newDatabase(): { name: string; url: string } {
  const named = nameDatabase()
  onTestFinished(() => removeDatabase(named.name).then(() => undefined))
  return named
}

async function newest(): Promise<string> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.age')).toSorted()
  return join(folder, names.at(-1) ?? '')
}

/** Every row of every table, as text, and the waiting jobs. */
function contents(at: string): Promise<Record<string, string[]>> {
  return withClient(at, async client => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`
    )
    const all: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t order by 1`)
      // Rehearsals leave their outcome.
      all[name] = rows.map(({ row }) => row).filter(row => !row.startsWith('(backup_rehearsal,'))
    }
    const { rows: jobs } = await client.query<{ row: string }>(
      `select name || data::text || coalesce(singleton_key, '') as row from pgboss.job where state < 'completed' order by 1`
    )
    return { ...all, jobs: jobs.map(({ row }) => row) }
  })
}

const databases = () =>
  withClient(url, async client => (await client.query<{ n: string }>('select datname as n from pg_database')).rows)

test('a backup of a shop in use restores to the same rows and jobs in a new database', async () => {
  const placed = await place(shop.stack, shop.buyer, 8, [shop.rule])
  expect(placed.code).toBe(2000)
  const before = await contents(url)
  const lines = await made()
  expect(lines.at(-1)).toMatch(/^Backed up: \d+ tables, \d+ rows, \d+\.\d MB, \d+\.\d s\.$/)
  const path = await newest()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readdir(folder)).filter(name => name.startsWith('.'))).toEqual([])
  expect((await readFile(path)).includes('buyer1')).toBe(false)

  Object.assign(copy, nameDatabase())
  const told = await restored({ file: path, into: copy.name })
  expect(told.at(-1)).toMatch(/^Restored: \d+ tables, \d+ rows of .*Z, \d+\.\d s\.$/)
  const after = await contents(copy.url)
  // What opens accounts is not kept, and the mark of the restore is new.
  expect(before['sessions']?.length).toBeGreaterThan(0)
  expect(before['jobs']?.length).toBeGreaterThan(0)
  const isMark = (row: string) => row.includes('restored_from_backup')
  expect(after['settings']?.filter(isMark)).toHaveLength(1)
  expect({ ...after, settings: after['settings']?.filter(row => !isMark(row)) }).toEqual({ ...before, sessions: [] })

  // Its triggers work again, and its ids go on well after those of the backup.
  await withClient(copy.url, async client => {
    await expect(client.query('delete from lease_blocks')).rejects.toThrow()
    const { rows } = await client.query<{ next: string }>(`select nextval('orders_id_seq') as next`)
    expect(Number(rows[0]?.next)).toBeGreaterThan(100_000)
  })
})

test('a backup of a newer version is refused', async () => {
  const path = await newest()
  const later = join(folder, 'later.age')
  const lock = lockFrom({ BACKUP_PASSPHRASE: PASSPHRASE }, 10)
  const away = await mkdtemp(join(tmpdir(), 'netlet-backup-'))
  onTestFinished(() => rm(away, { recursive: true, force: true }))
  const header = {
    netlet_backup: 1,
    at: new Date().toISOString(),
    migration: 9_999_999_999_999,
    environment: {},
    files: {}
  } as const
  const { path: newer } = await writeBackup(
    away,
    { lock, at: new Date() },
    (async function* () {
      yield { kind: 'header', header } as const
      yield { kind: 'end', manifest: { tables: [], sequences: {}, checks: null } } as const
    })()
  )
  await writeFile(later, await readFile(newer))
  await expect(restored({ file: later, into: newDatabase().name })).rejects.toThrow(
    /comes from a newer version of Netlet/
  )
  expect(path).not.toBe(later)
})

test('a database that is not empty, and one that a shop uses, are never written', async () => {
  const before = await contents(url)
  await expect(restored({ file: await newest() })).rejects.toThrow(/A shop is running on this database/)
  const kept = await contents(copy.url)
  await expect(restored({ file: await newest() }, { env: { DATABASE_URL: copy.url } })).rejects.toThrow(
    /The database is not empty/
  )
  await expect(restored({ file: await newest(), into: copy.name })).rejects.toThrow(/There is already a database/)
  const foreign = newDatabase()
  await withClient(url, client => client.query(`create database ${foreign.name}`))
  await withClient(foreign.url, client => client.query('create table other (id int)'))
  await expect(restored({ file: await newest() }, { env: { DATABASE_URL: foreign.url } })).rejects.toThrow(
    /The database is not empty/
  )
  expect(await contents(copy.url)).toEqual(kept)
  expect(await contents(url)).toEqual(before)
})

test('a broken, cut, foreign or otherwise locked file is refused in one line before anything is made', async () => {
  const whole = await readFile(await newest())
  const flipped = Buffer.from(whole)
  flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 1
  const files: [string, Buffer, RegExp][] = [
    ['empty', Buffer.alloc(0), /is not a Netlet backup|damaged or cut off/],
    ['cut', whole.subarray(0, whole.length - 1), /damaged/],
    ['cut in its middle', whole.subarray(0, whole.length >> 1), /damaged/],
    ['cut by a tag', whole.subarray(0, whole.length - 16), /damaged/],
    ['flipped', flipped, /damaged/],
    ['with more at its end', Buffer.concat([whole, Buffer.from('more')]), /damaged/],
    ['foreign', Buffer.from('PGDMP and so on'.repeat(1000)), /is not a Netlet backup/],
    ['huge and foreign', Buffer.alloc(20_000_000, 'x'), /is not a Netlet backup/]
  ]
  const name = 'netlet_never_made'
  for (const [what, bytes, words] of files) {
    const file = join(folder, `broken ${what}`)
    await writeFile(file, bytes)
    const refused = restored({ file, into: name })
    await expect(refused, what).rejects.toThrow(words)
    await expect(refused, what).rejects.not.toThrow(/\n/)
  }
  const file = await newest()
  const other = { BACKUP_PASSPHRASE: 'another passphrase of somebody' }
  await expect(restored({ file, into: name }, { env: other })).rejects.toThrow(/The passphrase or key is wrong/)
  await expect(restored({ file: join(folder, 'none'), into: name })).rejects.toThrow(/There is no file/)
  await expect(restored({ file: folder, into: name })).rejects.toThrow(/cannot be read/)
  await expect(
    restored({ file, into: name }, { env: { APP_SECRET: 'another secret of forty characters and more' } })
  ).rejects.toThrow(/APP_SECRET does not match the backup/)
  expect(await databases()).not.toContainEqual({ n: name })
})

test('a well locked file with wrong contents is refused, and leaves the new database without rows', async () => {
  const lock = lockFrom({ BACKUP_PASSPHRASE: PASSPHRASE }, 10)
  const { migration } = await withClient(url, async client => ({
    migration: Number((await client.query('select max(created_at) as at from drizzle.__drizzle_migrations')).rows[0].at)
  }))
  const environment = { APP_SECRET: secret }
  const header = {
    kind: 'header',
    header: { netlet_backup: 1, at: new Date().toISOString(), migration, environment, files: {} }
  } as const
  const end = (tables: object[]) => ({ kind: 'end', manifest: { tables, sequences: {}, checks: null } }) as never
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  const hostile: [string, unknown[], RegExp][] = [
    [
      'a wrong sum',
      [
        header,
        { kind: 'table', table: { table: 'faqs', columns: ['id'] } },
        end([{ table: 'faqs', rows: 1, bytes: 2, sha256: empty }])
      ],
      /the table faqs is not what was written/
    ],
    [
      'a foreign table',
      [
        header,
        { kind: 'table', table: { table: 'pg_authid', columns: ['rolname'] } },
        end([{ table: 'pg_authid', rows: 0, bytes: 0, sha256: empty }])
      ],
      /there is no pg_authid/
    ],
    [
      'an injected name',
      [header, { kind: 'table', table: { table: 'faqs"; drop table users', columns: ['id'] } }, end([])],
      /damaged/
    ],
    ['rows of no table', [header, { kind: 'rows', bytes: Buffer.from('1\n') }, end([])], /rows without a table/],
    ['no header', [end([])], /does not begin with its header/],
    ['no end', [header], /it has no end/]
  ]
  const away = await mkdtemp(join(tmpdir(), 'netlet-backup-'))
  onTestFinished(() => rm(away, { recursive: true, force: true }))
  let at = Date.now()
  for (const [what, parts, words] of hostile) {
    const { path } = await writeBackup(
      away,
      { lock, at: new Date(at++) },
      (async function* () {
        yield* parts as never[]
      })()
    )
    const copy = newDatabase()
    await expect(restored({ file: path, into: copy.name }), what).rejects.toThrow(words)
    expect(await databases(), what).not.toContainEqual({ n: copy.name })
  }
  expect(frameOf(header).length).toBeGreaterThan(5)
})

test('a backup for a recipient of age is opened by its key alone', async () => {
  const identity = await generateX25519Identity()
  const keyFile = join(folder, 'key.txt')
  await writeFile(keyFile, `# created by a test\n${identity}\n`)
  const env = { BACKUP_PASSPHRASE: '', BACKUP_RECIPIENT: await identityToRecipient(identity) }
  await made({}, { env })
  const file = await newest()
  const other = await generateX25519Identity()
  const otherFile = join(folder, 'other.txt')
  await writeFile(otherFile, other)
  const copy = newDatabase()
  await expect(restored({ file, into: copy.name })).rejects.toThrow(/The passphrase or key is wrong/)
  await expect(restored({ file, into: copy.name }, { env: { BACKUP_IDENTITY_FILE: otherFile } })).rejects.toThrow(
    /passphrase or key is wrong/
  )
  const lines = await restored(
    { file, into: copy.name, secrets: join(folder, 'kept.env') },
    { env: { APP_SECRET: '', BACKUP_PASSPHRASE: '', BACKUP_IDENTITY_FILE: keyFile } }
  )
  expect(lines.at(-1)).toMatch(/^Restored/)
  expect(await readFile(join(folder, 'kept.env'), 'utf8')).toContain(`APP_SECRET='${secret}'\n`)
  expect((await stat(join(folder, 'kept.env'))).mode & 0o777).toBe(0o600)
})

test('without a way to lock or open it, or with a wrong secret, it says in one line what to set', async () => {
  const refused: [() => Promise<unknown>, RegExp][] = [
    [() => made({}, { env: { BACKUP_PASSPHRASE: '' } }), /Set BACKUP_PASSPHRASE/],
    [() => made({}, { env: { BACKUP_PASSPHRASE: 'short' } }), /at least 12 characters/],
    [() => made({}, { env: { BACKUP_RECIPIENT: 'age1nonsense' } }), /BACKUP_RECIPIENT is not/],
    [() => made({}, { env: { APP_SECRET: '' } }), /Set APP_SECRET/],
    [
      () => made({}, { env: { APP_SECRET: 'a secret of another shop, forty letters' } }),
      /APP_SECRET does not match this database/
    ],
    [
      () => made({}, { env: { DATABASE_URL: 'postgres://netlet:hidden@127.0.0.1:9/netlet' } }),
      /The database does not respond/
    ],
    [() => made({}, { env: { DATABASE_URL: '', DATA_DIR: join(folder, 'nothing') } }), /There is no shop in/],
    [() => made({ to: join(folder, 'key.txt', 'below a file') }), /could not be written to/],
    [() => made({ keep: '0' }), /--keep takes the number/],
    [() => restored({ from: join(folder, 'nothing'), rehearse: true }), /There is no backup in/],
    [() => restored({}, { env: { BACKUP_PASSPHRASE: '' } }), /Set BACKUP_PASSPHRASE/]
  ]
  for (const [work, words] of refused) await expect(work(), String(words)).rejects.toThrow(words)
  expect((await readdir(folder)).filter(name => name.startsWith('.'))).toEqual([])
})

test('only the newest backups are kept, and an interrupted one leaves nothing', async () => {
  // A killed one leaves a file, which is removed when no backup can be writing it any more.
  const left = '.netlet-20260101T000000000Z-1.part'
  const isLeft = async () => (await readdir(folder)).includes(left)
  await writeFile(join(folder, left), 'half')
  await made()
  expect(await isLeft()).toBe(true)
  await made({}, { at: new Date(Date.now() + 2 * DAY).toISOString() })
  expect(await isLeft()).toBe(false)
  // It is later than all that follow.
  await rm(await newest())
  await made({}, { at: '2020-01-01T00:00:00.000Z' })
  const all = async () => (await readdir(folder)).filter(name => /^netlet-.*\.age$/.test(name)).toSorted()
  expect((await all())[0]).toBe('netlet-20200101T000000000Z.age')
  await expect(made({ keep: '1' }, { signal: AbortSignal.abort() })).rejects.toThrow(/was interrupted/)
  expect((await all())[0]).toBe('netlet-20200101T000000000Z.age')
  await expect(made({}, { at: '2020-01-01T00:00:00.000Z' })).rejects.toThrow(/could not be written/)
  const lines = await made({ keep: '1' })
  expect(lines.join('\n')).toMatch(/older backup\(s\) removed/)
  expect(await all()).toHaveLength(1)
})

test('a rehearsal checks the newest backup beside the shop and removes its database, also when it is interrupted', async () => {
  const before = await contents(url)
  const isRehearsal = ({ n }: { n: string }) => n.startsWith('netlet_rehearsal_')
  const others = async () => (await databases()).filter(isRehearsal)
  const kept = await others()
  // A killed rehearsal leaves its database, which the next one removes.
  const [own] = await withClient(
    url,
    async client =>
      (await client.query(`select 'netlet_rehearsal_' || oid as n from pg_database where datname = current_database()`))
        .rows
  )
  await withClient(url, client => client.query(`create database ${own.n}`))
  const both = await Promise.allSettled([1, 2].map(() => restored({ rehearse: true, from: folder })))
  const refused = both.flatMap(one => (one.status === 'rejected' ? [one.reason as unknown] : []))
  expect(refused).toMatchObject([{ message: expect.stringContaining('Another rehearsal') }])
  const lines = both.flatMap(one => (one.status === 'fulfilled' ? one.value : []))
  expect(lines).toContain('  orders: 2 rows')
  expect(lines).toContain('  addresses leased twice: 0')
  expect(lines.at(-1)).toMatch(/^Rehearsed, and removed: \d+ tables, \d+ rows of .*Z, \d+\.\d s\.$/)
  expect(await others()).toEqual(kept)
  expect(await contents(url)).toEqual(before)
  expect(await readRehearsal(shop.stack.ctx.db)).toMatchObject({ error: null, data_until: expect.stringMatching(/Z$/) })

  await expect(restored({ rehearse: true, from: folder }, { signal: AbortSignal.timeout(200) })).rejects.toThrow(
    /was interrupted/
  )
  expect(await others()).toEqual(kept)
})

test('a backup of a shop that was itself restored, and had not recovered, counts from the earlier one', async () => {
  const marked = async (at: string) =>
    withClient(at, async client => {
      const { rows } = await client.query(`select value from settings where key = 'restored_from_backup'`)
      return (rows[0] as { value: { backup_at: string } }).value.backup_at
    })
  const [twice, later] = [newDatabase(), newDatabase()]
  await made({}, { env: { DATABASE_URL: copy.url } })
  await restored({ file: await newest(), into: twice.name })
  expect(await marked(twice.url)).toBe(await marked(copy.url))
  await withClient(copy.url, client =>
    client.query(`update settings set value = value || '{"recovered_at": "2026-01-01T00:00:00.000Z"}'
      where key = 'restored_from_backup'`)
  )
  await made({}, { env: { DATABASE_URL: copy.url } })
  await restored({ file: await newest(), into: later.name })
  expect(await marked(later.url)).not.toBe(await marked(copy.url))
})

test('a backup tells that the shop contradicts its books', async () => {
  await withClient(copy.url, client => client.query(`update users set coins = coins + 5 where username = 'buyer1'`))
  const lines = await made({}, { env: { DATABASE_URL: copy.url } })
  expect(lines).toContain('Wrong in the shop itself: balances and payments that differ from their records: 1.')
})

test('a backup of an earlier version is migrated on', async () => {
  const earlier = newDatabase()
  await withClient(url, client => client.query(`create database ${earlier.name}`))
  await migrate(earlier.url, knownMigrations().at(-8))
  await withClient(earlier.url, client =>
    client.query(`insert into faqs (question, answer, created_at) values ('Why?', 'So.', now())`)
  )
  await made({}, { env: { DATABASE_URL: earlier.url } })
  const copy = newDatabase()
  await restored({ file: await newest(), into: copy.name })
  const { rows } = await withClient(copy.url, client =>
    client.query('select question, (select max(created_at) from drizzle.__drizzle_migrations) as at from faqs')
  )
  expect(rows).toEqual([{ question: 'Why?', at: knownMigrations().at(-1) }])
})
