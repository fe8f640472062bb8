import { Client } from 'pg'
import { drizzle } from 'drizzle-orm/node-postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMailQueue } from '../domains/mail/index.ts'
import { readRehearsal, readRestored } from '../domains/settings/index.ts'
import type { Executor } from '../infra/db/client.ts'
import { makeQueues } from '../infra/jobs.ts'
import { createLog } from '../infra/log.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { withClient } from '../testing/server.ts'
import { restore, type RestoreOptions } from './commands.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const NOW = '2026-03-02T09:00:00.000Z'

async function run(options: RestoreOptions): Promise<string[]> {
  const env = { DATABASE_URL: database.url, APP_SECRET: 'x'.repeat(40), BACKUP_PASSPHRASE: 'five words hard to guess' }
  const lines: string[] = []
  const signal = new AbortController().signal
  await restore(options, { env, say: line => lines.push(line), signal, now: () => new Date(NOW) })
  return lines
}

const inside = <T>(work: (client: Client) => Promise<T>) => withClient(database.url, work)
const read = <T>(reader: (db: Executor) => Promise<T>) =>
  inside(client => reader(drizzle(client, { casing: 'snake_case' })))

test('a rehearsal that fails is kept for Health, with its reason', async () => {
  expect(await read(readRehearsal)).toBeNull()
  // The shop's own server was never restored.
  const { port } = new URL(database.url)
  const failures: [RestoreOptions, string][] = [
    [{ port }, `The database at port ${port} was not restored`],
    [{ port: '1' }, 'No restored database responds on port 1'],
    [{ from: '/nowhere/at/all' }, '/nowhere/at/all']
  ]
  for (const [options, why] of failures) {
    await expect(run({ rehearse: true, ...options })).rejects.toThrow(why)
    const error = expect.stringContaining(why) as string
    expect(await read(readRehearsal)).toEqual({ at: NOW, data_until: null, error })
  }
})

test('a database of an earlier moment is marked once its shop is stopped: no id comes twice, no job is dropped', async () => {
  for (const marked of ['yesterday', '2026-03-03T00:00:00Z'])
    await expect(run({ marked })).rejects.toThrow('--mark takes the time')
  const marked = '2026-03-01T14:05:00.000Z'
  const shop = new Client({ connectionString: database.url, application_name: 'netlet' })
  await shop.connect()
  await expect(run({ marked })).rejects.toThrow('A shop is running on this database')
  await shop.end()
  expect(await read(readRestored)).toBeNull()

  const nextId = async () =>
    (await inside(client => client.query<{ id: number }>(`select nextval('users_id_seq')::int as id`))).rows[0]?.id ?? 0
  const last = await nextId()
  await makeQueues(database.url, createLog('test', 'silent'), [sendMailQueue])
  await inside(client =>
    client.query(`insert into pgboss.job (name, data, keep_until) values ('send-mail', '{}', '2026-03-01T15:00:00Z')`)
  )
  expect((await run({ marked })).at(-1)).toBe(`Marked as restored to ${marked}.`)
  expect(await read(readRestored)).toMatchObject({ backupAt: new Date(marked), recoveredAt: null })
  expect(await nextId()).toBe(last + 100_001)
  const { rows } = await inside(client => client.query<{ keep_until: Date }>('select keep_until from pgboss.job'))
  expect(rows).toEqual([{ keep_until: new Date('2026-03-03T09:00:00Z') }])

  // Again, with a later moment: nothing that was paid since the earlier one is forgotten.
  await run({ marked: '2026-03-01T20:00:00Z' })
  expect(await read(readRestored)).toMatchObject({ backupAt: new Date(marked) })
})
