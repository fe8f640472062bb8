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
  [{ ...valid, DATABASE_URL: 'postgres://a@one:5432,two:5432/b' }, 'DATABASE_URL is not the address of one database'],
  [{ ...valid, SMTP_URL: 'smtp://shop:50%off@mail.example.com' }, 'SMTP_URL is not an address'],
  [{ ...valid, SMTP_URL: 'smtp://shop:50%off@mail.example.com' }, 'write % as %25'],
  [{ ...valid, SMTP_URL: 'mail.example.com:587' }, 'SMTP_URL is not an address'],
  [{ ...valid, SENDGRID_URL: 'ftp://sendgrid.example' }, 'SENDGRID_URL is not an address'],
  [{ ...valid, CHECK_BING_URL: 'bing' }, 'CHECK_BING_URL is not an address'],
  [{ ...valid, DNS_SERVERS: '192.0.2.53,dns.example' }, 'DNS_SERVERS must list addresses'],
  [{ ...valid, PUBLIC_URL: 'shop' }, 'PUBLIC_URL is not an address'],
  [{ ...valid, PUBLIC_URL: undefined }, 'Set PUBLIC_URL'],
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
    logLevel: 'info'
  })
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
