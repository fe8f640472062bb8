import fastify from 'fastify'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { StartupError } from './db/migrate.ts'

const SECRET = 'x'.repeat(32)
const valid = {
  DATABASE_URL: 'postgres://a@127.0.0.1/b',
  APP_SECRET: SECRET,
  PUBLIC_URL: 'https://shop.example.com'
}

test.each<[NodeJS.ProcessEnv, string]>([
  [{}, 'Set DATABASE_URL'],
  [{ DATABASE_URL: '', APP_SECRET: SECRET }, 'Set DATABASE_URL'],
  [{ DATABASE_URL: 'mysql://a', APP_SECRET: SECRET }, 'DATABASE_URL is not a postgres:// address'],
  [{ DATABASE_URL: valid.DATABASE_URL }, 'Set APP_SECRET'],
  [{ ...valid, APP_SECRET: 'x'.repeat(31) }, 'Set APP_SECRET'],
  [{ ...valid, PORT: '70000' }, 'PORT is not a port number'],
  [{ ...valid, PORT: '80.5' }, 'PORT is not a port number'],
  [{ ...valid, PORT: 'http' }, 'PORT is not a port number'],
  [{ ...valid, PORT: '' }, 'PORT is not a port number'],
  [{ ...valid, DATABASE_URL: 'postgres://a:50%off@127.0.0.1/b' }, 'DATABASE_URL is not the address of one database'],
  [{ ...valid, DATABASE_URL: 'postgres://a@one:5432,two:5432/b' }, 'DATABASE_URL names several servers'],
  [{ ...valid, DATABASE_URL: 'postgres://one,two/b?target_session_attrs=read-write' }, 'HAProxy or PgBouncer'],
  [{ ...valid, DATABASE_SESSION_URL: 'postgres://one,two/b' }, 'DATABASE_SESSION_URL names several servers'],
  [{ ...valid, DATABASE_SESSION_URL: '10.0.0.1:5432' }, 'DATABASE_SESSION_URL is not a postgres:// address'],
  [{ ...valid, DATABASE_CONNECTIONS: '1' }, 'DATABASE_CONNECTIONS is not a number from 2'],
  [{ ...valid, DATABASE_CONNECTIONS: 'few' }, 'DATABASE_CONNECTIONS is not a number from 2'],
  [{ ...valid, TRUST_PROXY: 'nonsense' }, 'TRUST_PROXY must list addresses'],
  [{ ...valid, TRUST_PROXY: '10.0.0.0/40' }, 'TRUST_PROXY must list addresses'],
  [{ ...valid, TRUST_PROXY: '127.0.0.1,' }, 'TRUST_PROXY must list addresses'],
  [{ ...valid, WORKER_PORT: '70000' }, 'WORKER_PORT is not a port number'],
  [{ ...valid, ACCESS_LOG: 'yes' }, 'ACCESS_LOG must be on or off'],
  [{ ...valid, LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
  [{ ...valid, NETLET_DATABASE_URL: 'postgres://a/b' }, 'NETLET_DATABASE_URL is no setting of Netlet'],
  [{ ...valid, SMTP_URL: 'smtp://shop:50%off@mail.example.com' }, 'SMTP_URL is not an address'],
  [{ ...valid, SMTP_URL: 'smtp://shop:50%off@mail.example.com' }, 'write % as %25'],
  [{ ...valid, SMTP_URL: 'mail.example.com:587' }, 'SMTP_URL is not an address'],
  [{ ...valid, SENDGRID_URL: 'ftp://sendgrid.example' }, 'SENDGRID_URL is not an address'],
  [{ ...valid, CHECK_BING_URL: 'bing' }, 'CHECK_BING_URL is not an address'],
  [{ ...valid, DNS_SERVERS: '192.0.2.53,dns.example' }, 'DNS_SERVERS must list addresses'],
  [{ ...valid, PUBLIC_URL: 'shop' }, 'PUBLIC_URL is not an address'],
  [{ ...valid, PUBLIC_URL: undefined }, 'Set PUBLIC_URL'],
  [{ ...valid, PUBLIC_URL: 'http://shop.example.com' }, 'PUBLIC_URL must begin with https://'],
  [{ ...valid, PUBLIC_URL: 'http://127.0.0.1:3000' }, 'PUBLIC_URL is an address of this machine only'],
  [{ ...valid, PUBLIC_URL: 'http://localhost' }, 'ALLOW_LOOPBACK_PUBLIC_URL=1'],
  [{ ...valid, PUBLIC_URL: 'https://shop.localhost.' }, 'PUBLIC_URL is an address of this machine only'],
  [{ ...valid, PUBLIC_URL: 'http://[::1]:3000' }, 'PUBLIC_URL is an address of this machine only'],
  [{ ...valid, PUBLIC_URL: 'http://0x7f000001:80' }, 'PUBLIC_URL is an address of this machine only'],
  [{ ...valid, ADMIN_PASSWORD: 'Admin#2026', ADMIN_EMAIL: 'a@b.example' }, 'ADMIN_PASSWORD is the demo password'],
  [{ ...valid, ADMIN_PASSWORD: 'Other#2026' }, 'ADMIN_PASSWORD is set without ADMIN_EMAIL'],
  [{ ...valid, CONSOLE_ADDRESSES: '203.0.113.7,here' }, 'CONSOLE_ADDRESSES must list addresses']
])('%j is refused: %s', (env, message) => {
  expect(() => readConfig(env)).toThrow(StartupError)
  expect(() => readConfig(env)).toThrow(message)
})

test('each unset variable has a default for production', () => {
  expect(readConfig(valid)).toMatchObject({
    demo: false,
    host: '0.0.0.0',
    port: 3000,
    publicUrl: 'https://shop.example.com',
    secureCookies: true,
    trustProxy: false,
    admin: undefined,
    smtpUrl: undefined,
    install: { username: 'root', root: '' },
    consoleAddresses: [],
    logLevel: 'info',
    sessionUrl: valid.DATABASE_URL,
    pooled: false,
    connections: 10,
    workerPort: null,
    workerHost: '127.0.0.1',
    accessLog: true,
    metricsToken: undefined
  })
})

test.each(['loopback', '127.0.0.1', '10.0.0.0/8, fd00::/8', '::1,uniquelocal'])('TRUST_PROXY may be %s', proxies => {
  const { trustProxy } = readConfig({ ...valid, TRUST_PROXY: proxies })
  expect(trustProxy).toBe(proxies)
  expect(() => fastify({ trustProxy })).not.toThrow()
})

test('with a session URL of its own, the database URL leads to a pooler', () => {
  const direct = 'postgres://a@10.0.0.2/b'
  expect(readConfig({ ...valid, DATABASE_SESSION_URL: direct })).toMatchObject({ sessionUrl: direct, pooled: true })
  expect(readConfig({ ...valid, DATABASE_SESSION_URL: valid.DATABASE_URL })).toMatchObject({ pooled: false })
  expect(readConfig({ ...valid, DATABASE_SESSION_URL: '' })).toMatchObject({ pooled: false })
})

test.each([
  'postgres://netlet:50%25@127.0.0.1:5432/netlet?sslmode=require',
  'postgresql://netlet@[::1]/netlet',
  'postgresql:///netlet?host=/var/run/postgresql',
  'postgres://netlet:a%2Fb@/netlet?host=/var/run/postgresql'
])('%s is the address of a database', url => {
  expect(readConfig({ ...valid, DATABASE_URL: url }).databaseUrl).toBe(url)
})

test('an empty address is unset or the default', () => {
  const empty = { SMTP_URL: '', SENDGRID_URL: '', CHECK_BING_URL: '', DNS_SERVERS: '' }
  expect(readConfig({ ...valid, ...empty })).toMatchObject({
    smtpUrl: undefined,
    sendgridUrl: undefined,
    checkSites: { bing: 'https://www.bing.com/' },
    dnsServers: []
  })
})

test('each set variable is used', () => {
  const admin = { ADMIN_USERNAME: 'boss', ADMIN_PASSWORD: 'Other#2026', ADMIN_EMAIL: 'a@b.example' }
  const install = { AGENT_INSTALL_USER: 'deploy', AGENT_INSTALL_ROOT: '/srv' }
  const env = {
    ...valid,
    ...admin,
    ...install,
    PORT: '0',
    PUBLIC_URL: 'https://shop.example.com//',
    TRUST_PROXY: 'loopback'
  }
  expect(readConfig(env)).toMatchObject({
    port: 0,
    publicUrl: 'https://shop.example.com',
    secureCookies: true,
    trustProxy: 'loopback',
    install: { username: 'deploy', root: '/srv' },
    admin: { username: 'boss', password: 'Other#2026', email: 'a@b.example' }
  })
  // The demo listens on loopback only, and accepts its own password.
  const demo = readConfig({ ...valid, NETLET_DEMO: '1', ADMIN_PASSWORD: 'Admin#2026', ADMIN_EMAIL: 'a@b.example' })
  expect(demo).toMatchObject({ demo: true, host: '127.0.0.1', admin: { username: 'admin' } })
})

test('a loopback address is accepted if it is allowed, and in demo mode without asking', () => {
  const meant = { ...valid, PUBLIC_URL: 'http://127.0.0.1:3000', ALLOW_LOOPBACK_PUBLIC_URL: '1' }
  expect(readConfig(meant)).toMatchObject({ demo: false, publicUrl: 'http://127.0.0.1:3000', secureCookies: false })
  const demo = readConfig({ ...valid, PUBLIC_URL: undefined, NETLET_DEMO: '1', PORT: '3100' })
  expect(demo.publicUrl).toBe('http://127.0.0.1:3100')
  // Only looks like a loopback name.
  expect(readConfig({ ...valid, PUBLIC_URL: 'https://localhost.example.com' }).demo).toBe(false)
})
