import { agentState } from '@netlet/contract/agent'
import { denySetHash } from '@netlet/contract/agent-hashes'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { startAgent } from '../src/agent.ts'
import { newCertificate } from './certificates.ts'
import {
  basic,
  caller,
  echoTarget,
  httpTarget,
  type Json,
  lease,
  onEnd,
  proxied,
  silent,
  socks,
  socksAddress,
  startedAgain,
  tempFolder,
  type TestAgent,
  testAgent,
  testConfig,
  token,
  tunnel,
  until,
  RawClient
} from './test-agent.ts'

let agent: TestAgent
let echo: Awaited<ReturnType<typeof echoTarget>>
let target: Awaited<ReturnType<typeof httpTarget>>
beforeAll(async () => {
  agent = await testAgent({ limits: { sweepMs: 20 } })
  echo = await echoTarget()
  target = await httpTarget()
})

test('only the token opens the API, only health needs none', async () => {
  for (const bearer of ['', 'wrong', `${token}x`]) {
    const refused = await caller(agent.port, bearer)('GET', '/api/state')
    expect(refused.status).toBe(401)
    expect(refused.text).not.toContain(agent.net)
  }
  expect((await caller(agent.port, '')('GET', '/healthz')).json).toMatchObject({ status: 'ok', workers: 1 })
  expect((await caller(agent.port, '')('GET', '/api/nothing')).status).toBe(401)
  expect((await agent.call('GET', '/api/nothing')).status).toBe(404)
})

test('a put lists the proxies, shows in the state without secrets, and says the same when repeated', async () => {
  const body = {
    password: 'very-secret',
    prefixes: [`${agent.net}.1.0/30`],
    denied_domains: ['hidden.test'],
    allowed_client_ips: []
  }
  const first = await agent.call('PUT', '/api/users/anna', body)
  expect(first.json['proxies']).toEqual(
    [0, 1, 2, 3].map(n => ({
      ip: `${agent.net}.1.${n}`,
      port: agent.proxyPort,
      username: 'anna',
      password: 'very-secret'
    }))
  )
  const again = await agent.call('PUT', '/api/users/anna', body)
  expect(again.json).toEqual(first.json)
  const state = await agent.call('GET', '/api/state')
  expect(state.json['users']).toEqual([{ user: 'anna', hash: first.json['hash'], generation: first.json['version'] }])
  expect((await agent.call('PUT', '/api/users/anna?proxies=0', body)).json).not.toHaveProperty('proxies')
  expect(state.text).not.toMatch(/very-secret|hidden/)
  const gone = await agent.call('DELETE', '/api/users/anna')
  expect(gone.json).toMatchObject({ deleted: true })
  expect((await agent.call('DELETE', '/api/users/anna')).json).toMatchObject({ deleted: false })
  expect((await agent.call('GET', '/api/state')).json['users']).toEqual([])
})

test('the state is read by pages, with the ranges in the first', async () => {
  for (const name of ['bert', 'carl', 'anna']) await lease(agent.call, name, [`${agent.net}.1.0/30`])
  const page = async (query: string) => {
    const { users, next, prefixes } = agentState.parse((await agent.call('GET', `/api/state?${query}`)).json)
    return [users.map(({ user }) => user), next, prefixes.length]
  }
  expect(await page('limit=2')).toEqual([['anna', 'bert'], 'bert', 1])
  expect(await page('limit=2&after=bert')).toEqual([['carl'], undefined, 0])
  expect(await page('limit=3')).toEqual([['anna', 'bert', 'carl'], undefined, 1])
  expect((await agent.call('GET', '/api/state?limit=0')).json['reason']).toBe('badBody')
  for (const name of ['bert', 'carl', 'anna']) await agent.call('DELETE', `/api/users/${name}`)
})

test('what does not fit is refused with a reason, and changes nothing', async () => {
  const version = (await agent.call('GET', '/api/state')).json['version']
  const good = { password: 'p', prefixes: [`${agent.net}.2.0/30`], denied_domains: [], allowed_client_ips: [] }
  const cases: Array<[string, unknown, string]> = [
    ['bob', { ...good, prefixes: ['127.0.0.0/30'] }, 'outsidePrefixes'],
    ['bob', { ...good, prefixes: [`${agent.net}.128.0/16`] }, 'badPrefix'],
    ['bob', { ...good, prefixes: [`${agent.net}.2.1/30`] }, 'badPrefix'],
    ['bob', { ...good, prefixes: ['::/0'] }, 'outsidePrefixes'],
    ['bob', { ...good, denied_domains: ['not a domain'] }, 'badDomain'],
    ['bob', { ...good, denied_domains: ['10.0.0.1/8'] }, 'badDomain'],
    ['bob', { ...good, denied_domains: ['!a.test'] }, 'badDomain'],
    ['bob', { ...good, allowed_domains: ['not a domain'] }, 'badDomain'],
    ['bob', { ...good, allowed_domains: ['10.0.0.1'] }, 'badDomain'],
    ['bob', { ...good, allowed_domains: 'a.test' }, 'badBody'],
    ['bob', { ...good, allowed_client_ips: ['x'] }, 'badClientIp'],
    ['bob', { ...good, password: 'has:colon' }, 'badPassword'],
    ['bob', { ...good, password: '' }, 'badPassword'],
    ['bob', { ...good, prefixes: 'x' }, 'badBody'],
    ['bob', [], 'badBody'],
    ['b:b', good, 'badUser'],
    ['bob', { ...good, denied_domains: undefined, deny_set: 'f'.repeat(64) }, 'unknownDenySet']
  ]
  for (const [user, body, reason] of cases) {
    const refused = await agent.call('PUT', `/api/users/${encodeURIComponent(user)}`, body)
    expect([refused.status >= 400 && refused.status < 500, refused.json['reason']]).toEqual([true, reason])
    expect(refused.json['msg']).toBeTypeOf('string')
  }
  expect((await agent.call('GET', '/api/state')).json['version']).toBe(version)
})

test('the prefixes cannot leave a lease behind', async () => {
  await lease(agent.call, 'holder', [`${agent.net}.3.0/30`])
  const refused = await agent.call('PUT', '/api/prefixes', { prefixes: [`${agent.net}.128.0/17`] })
  expect([refused.status, refused.json['reason']]).toEqual([409, 'prefixInUse'])
  await agent.call('DELETE', '/api/users/holder')
  const smaller = await agent.call('PUT', '/api/prefixes', { prefixes: [`${agent.net}.128.0/17`] })
  expect(smaller.json['routes']).toEqual([{ prefix: `${agent.net}.128.0/17`, local: true }])
  const back = await agent.call('PUT', '/api/prefixes', { prefixes: [`${agent.net}.0.0/16`] })
  expect(back.status).toBe(200)
})

test('50,000 denied domains fit, are kept once for all who have them, and are looked up at once', async () => {
  const denied_domains = Array.from({ length: 50_000 }, (_, n) => `shop-${n}.example-${n % 100}.com`)
  const first = await lease(agent.call, 'wide1', [`${agent.net}.4.1/32`], { denied_domains })
  const second = await lease(agent.call, 'wide2', [`${agent.net}.4.2/32`], {
    denied_domains: undefined,
    deny_set: first['deny_set']
  })
  expect(second['deny_set']).toBe(first['deny_set'])
  for (const [user, ip] of [
    ['wide1', `${agent.net}.4.1`],
    ['wide2', `${agent.net}.4.2`]
  ] as const) {
    expect((await tunnel(ip, agent.proxyPort, user, 'www.shop-49999.example-99.com:443')).status).toBe(403)
    expect((await tunnel(ip, agent.proxyPort, user, echo.host)).status).toBe(200)
  }
  // An exception makes it another set, which opens the names below the exception.
  const allowed_domains = ['Open.shop-0.example-0.com.']
  const open = await lease(agent.call, 'wide4', [`${agent.net}.4.4/32`], { denied_domains, allowed_domains })
  expect(open['deny_set']).toBe(denySetHash(denied_domains.toSorted(), ['open.shop-0.example-0.com']))
  for (const [host, isDenied] of [
    ['a.shop-0.example-0.com', true],
    ['a.open.shop-0.example-0.com', false]
  ] as const)
    expect((await tunnel(`${agent.net}.4.4`, agent.proxyPort, 'wide4', `${host}:443`)).status === 403).toBe(isDenied)
  const size = (await readFile(join(agent.folder, 'state.journal'))).length
  await lease(agent.call, 'wide3', [`${agent.net}.4.3/32`], { denied_domains })
  expect((await readFile(join(agent.folder, 'state.journal'))).length - size).toBeLessThan(1000)
})

test('an acknowledged change has cut the tunnels that it ends, and no others', async () => {
  await lease(agent.call, 'leaver', [`${agent.net}.5.0/30`])
  await lease(agent.call, 'stayer', [`${agent.net}.5.0/30`])
  const open = async (user: string, n: number): Promise<RawClient> => {
    const { rawClient } = await tunnel(`${agent.net}.5.${n}`, agent.proxyPort, user, echo.host)
    await rawClient.take(/\n/)
    return rawClient
  }
  const overSocks = (await socks(`${agent.net}.5.2`, agent.proxyPort, 'leaver', socksAddress('127.0.0.1'), echo.port))
    .rawClient
  const idle = new RawClient(`${agent.net}.5.2`, agent.proxyPort).send(
    `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('leaver')}\r\n`
  )
  await idle.take(/200 OK/)
  const [first, second, stayer] = [await open('leaver', 1), await open('leaver', 2), await open('stayer', 1)]
  const openOf = async (user: string) =>
    Number((await agent.call('GET', `/api/connections?user=${user}`)).json['total'])
  expect(await openOf('leaver')).toBe(4)

  // One more denied domain cuts no tunnel.
  await lease(agent.call, 'leaver', [`${agent.net}.5.0/30`], { denied_domains: ['other.test'] })
  first.send('x')
  await first.take(/x/)
  // Removing an address cuts the tunnels that used it.
  await lease(agent.call, 'leaver', [`${agent.net}.5.2/31`], { denied_domains: ['other.test'] })
  expect(await openOf('leaver')).toBe(3)
  await first.over()
  second.send('y')
  await second.take(/y/)
  await agent.call('DELETE', '/api/users/leaver')
  expect(await openOf('leaver')).toBe(0)
  await Promise.all([second.over(), overSocks.over(), idle.over()])
  expect((await tunnel(`${agent.net}.5.2`, agent.proxyPort, 'leaver', echo.host)).status).toBe(407)
  stayer.send('still here')
  await stayer.take(/still here/)
})

test('a new password works at once, and the old one never again', async () => {
  await lease(agent.call, 'renew', [`${agent.net}.6.1/32`])
  const ip = `${agent.net}.6.1`
  const kept = new RawClient(ip, agent.proxyPort).send(
    `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('renew')}\r\n`
  )
  await kept.take(/200 OK/)
  await lease(agent.call, 'renew', [`${ip}/32`], { password: 'fresh' })
  await kept.over()
  expect((await proxied(ip, agent.proxyPort, 'renew', `http://${target.host}/`)).status).toBe(407)
  expect((await proxied(ip, agent.proxyPort, 'renew', `http://${target.host}/`, { password: 'fresh' })).status).toBe(
    200
  )
})

test('a kept connection that changes to a lease with other rules is judged by those', async () => {
  await lease(agent.call, 'open', [`${agent.net}.6.9/32`])
  await lease(agent.call, 'shut', [`${agent.net}.6.9/32`], { denied_domains: ['127.0.0.1'] })
  const rawClient = new RawClient(`${agent.net}.6.9`, agent.proxyPort)
  const ask = (user: string): RawClient =>
    rawClient.send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic(user)}\r\n`)
  await ask('open').take(/200 OK[^]*\}/)
  await ask('shut').take(/403 Forbidden[^]*plan\n/)
  await ask('open').take(/200 OK[^]*\}/)
})

test('only listed clients may use a lease', async () => {
  await lease(agent.call, 'listed', [`${agent.net}.6.2/32`], { allowed_client_ips: ['203.0.113.0/24', '127.0.0.1'] })
  await lease(agent.call, 'elsewhere', [`${agent.net}.6.2/32`], { allowed_client_ips: ['203.0.113.0/24'] })
  const url = `http://${target.host}/`
  expect((await proxied(`${agent.net}.6.2`, agent.proxyPort, 'listed', url)).status).toBe(200)
  expect((await proxied(`${agent.net}.6.2`, agent.proxyPort, 'elsewhere', url)).status).toBe(407)
})

test('traffic counts bytes, requests and errors, open tunnels included, and goes on after a restart', async () => {
  const first = await testAgent()
  const ip = `${first.net}.1.1`
  await lease(first.call, 'meter', [`${ip}/32`], { denied_domains: ['denied.test'] })
  const { rawClient } = await tunnel(ip, first.proxyPort, 'meter', echo.host)
  await rawClient.take(/\n/)
  rawClient.send('z'.repeat(100_000))
  await rawClient.bytes(100_000)
  await proxied(ip, first.proxyPort, 'meter', 'http://denied.test/')
  const row = (reply: { json: Json }): Json | undefined =>
    [...(reply.json['rows'] ?? [])].find(each => each['user'] === 'meter')
  const before = await first.call('GET', '/api/traffic')
  const counted = row(before)
  expect(counted).toMatchObject({ ip, requests: 1, errors: 1 })
  expect(Number(counted?.['up'])).toBeGreaterThan(100_000)
  expect(Number(counted?.['down'])).toBeGreaterThan(100_000)
  const restarted = await startedAgain(first)
  const { call } = restarted
  const after = await call('GET', '/api/traffic')
  expect(after.json['epoch']).toBe(before.json['epoch'])
  // The stop cut the tunnel and counted it.
  expect(row(after)).toMatchObject({ requests: 2, up: counted?.['up'], since: counted?.['since'] })
  await proxied(ip, restarted.proxyPort, 'meter', 'http://denied.test/')
  await until('one more', async () => Number(row(await call('GET', '/api/traffic'))?.['requests']) === 3)
})

test('with a certificate the API speaks TLS', async () => {
  const { files, cert: ca } = await newCertificate('agent', { names: 'IP:127.0.0.1' })
  const secure = await startAgent(testConfig(await tempFolder(), { tls: files }), { log: silent })
  if (!secure.ok) throw new Error(secure.message)
  onEnd(() => secure.agent.close())
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request({ host: '127.0.0.1', port: secure.agent.port, path: '/api/state', ca, headers, agent: false }, response => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
  await expect(caller(secure.agent.port)('GET', '/api/state')).rejects.toThrow('fetch failed')
})
