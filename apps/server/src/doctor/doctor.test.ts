import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../infra/config.ts'
import { environmentProblems } from '../infra/environment.ts'
import { createSecrets } from '../infra/secrets.ts'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { databaseUrl, withClient } from '../testing/server.ts'
import { checkDatabase } from './database.ts'
import { checkMachine, checkPublicUrl } from './machine.ts'
import { checkShop, checkSmtp } from './services.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

const configOf = (env: NodeJS.ProcessEnv = {}) =>
  readConfig({
    DATABASE_URL: database.url,
    APP_SECRET: 'x'.repeat(32),
    PUBLIC_URL: 'https://shop.invalid',
    HOST: '127.0.0.1',
    PORT: '0',
    ...env
  })
const has = (level: string, words: string) => ({ level, text: expect.stringContaining(words) as string })

test('each mistake of the environment is named', () => {
  const problems = environmentProblems({ NETLET_PORT: '1', APP_SECRET: 'short', PORT: 'x' })
  expect(problems).toHaveLength(4)
  for (const name of ['NETLET_PORT', 'DATABASE_URL', 'APP_SECRET', 'PORT'])
    expect(problems).toContainEqual(expect.stringContaining(name))
})

test('a database is looked at without being changed', async () => {
  const here = await checkDatabase(configOf())
  expect(here.isMigrated).toBe(true)
  expect(here.findings.filter(({ level }) => level !== 'ok')).toEqual([])
  const name = `empty_${Date.now().toString(36)}`
  await withClient(database.url, client => client.query(`create database ${name}`))
  const url = databaseUrl(database.url, name)
  try {
    const empty = await checkDatabase(configOf({ DATABASE_URL: url }))
    expect(empty).toMatchObject({ isMigrated: false })
    expect(empty.findings).toContainEqual(has('ok', 'The first start creates the tables'))
    const { rows } = await withClient(url, client =>
      client.query(`select 1 from pg_namespace where nspname in ('drizzle', 'pgboss')`)
    )
    expect(rows).toEqual([])
  } finally {
    await withClient(database.url, client => client.query(`drop database ${name} with (force)`))
  }
})

test('an address that leads to no replica is named', async () => {
  const { findings } = await checkDatabase(configOf({ DATABASE_REPLICA_URL: database.url }))
  expect(findings).toContainEqual(has('wrong', 'DATABASE_REPLICA_URL cannot be read: it is no replica'))
})

test.each([
  ['postgres://netlet@127.0.0.1:9/netlet', 'does not respond'],
  ['postgres://netlet@host.invalid/netlet', 'does not respond']
])('a database at %s is named with its setting', async (url, words) => {
  const { findings } = await checkDatabase(configOf({ DATABASE_URL: url }))
  expect(findings).toEqual([has('wrong', words)])
  expect(findings[0]?.text).toContain('DATABASE_URL')
})

test('a shop with another secret is named; one that is not set up yet only gets notes', async () => {
  const findings = await checkShop(configOf())
  expect(findings).toContainEqual(has('note', 'The platform is not set up'))
  expect(findings).toContainEqual(has('note', 'No email service is set up'))
  const sealed = createSecrets('another secret of the same length').seal('kept')
  await withClient(database.url, client =>
    client.query(`insert into settings (key, secret, updated_at) values ('app_secret_check', $1, now())`, [sealed])
  )
  expect(await checkShop(configOf())).toEqual([has('wrong', 'APP_SECRET does not match')])
})

test('a port that another program uses, and a mail server that is none, are wrong', async () => {
  const other = createServer(socket => socket.end('nonsense\r\n')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  try {
    const machine = await checkMachine(configOf({ PORT: String(port) }))
    expect(machine).toContainEqual(has('wrong', `another program uses 127.0.0.1:${port}`))
    expect(await checkSmtp(configOf({ SMTP_URL: `smtp://127.0.0.1:${port}` }))).toEqual([has('wrong', 'SMTP_URL')])
    expect(await checkSmtp(configOf())).toEqual([])
  } finally {
    other.close()
  }
})

test('the public address needs a named proxy', async () => {
  expect(await checkPublicUrl(configOf())).toEqual([
    has('ok', 'https://shop.invalid'),
    has('wrong', 'TRUST_PROXY is not set'),
    has('note', 'does not respond there yet')
  ])
})
