import { agentTraffic } from '@netlet/contract/agent'
import { beforeAll, describe, expect, test } from 'vitest'
import { guardedAgent, type Guarded } from './guarded.ts'
import type { Resolve } from '../src/net/resolver.ts'
import { basic, httpTarget, lease, proxied, socks, socksAddress, testAgent, tunnel, RawClient } from './test-agent.ts'

let agent: Guarded['agent']
let ip: string
let target: Guarded['target']
let asked: string[]
beforeAll(async () => {
  ;({ agent, ip, target, asked } = await guardedAgent())
})

const send = (bytes: string): RawClient => new RawClient(ip, agent.proxyPort).send(bytes)

describe('what a client sees', () => {
  const get = (url: string, options = {}): ReturnType<typeof proxied> => proxied(ip, agent.proxyPort, 'u', url, options)

  test('407 without credentials, with wrong ones, and at an address that is not its own', async () => {
    expect(await send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`).over()).toMatch(
      /^HTTP\/1\.1 407 [^]*Proxy-Authenticate: Basic/
    )
    expect((await get(`http://${target.host}/`, { password: 'wrong' })).status).toBe(407)
    expect((await proxied(`${agent.net}.1.4`, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(407)
    expect((await proxied(ip, agent.proxyPort, 'nobody', `http://${target.host}/`)).status).toBe(407)
  })

  test('407 leaves the connection open for another try', async () => {
    const rawClient = send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    await rawClient.take(/407 [^]*?\r\n\r\n.*\n/)
    rawClient.send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`)
    await rawClient.take(/200 OK/)
  })

  test('credentials count for one request: without them, or with wrong ones, a kept connection gets 407 again', async () => {
    const rawClient = new RawClient(ip, agent.proxyPort)
    const ask = (credentials: string): RawClient =>
      rawClient.send(`GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${credentials}\r\n`)
    await ask(basic('u')).take(/200 OK[^]*\}/)
    await ask('').take(/407 [^]*of this proxy\n/)
    await ask(basic('u')).take(/200 OK[^]*\}/)
    await ask(basic('u', 'wrong')).take(/407 [^]*of this proxy\n/)
    await ask('').take(/407 [^]*of this proxy\n/)
    await ask(basic('u')).take(/200 OK[^]*\}/)
  })

  test('403 for a denied domain and its subdomains, in any case and with a trailing dot, before it is resolved', async () => {
    for (const name of ['denied.test', 'www.denied.test', 'A.B.Denied.TEST', 'denied.test.']) {
      const got = await get(`http://${name}/`)
      expect(got.status).toBe(403)
      expect(got.body).toMatch(/plan/)
    }
    expect((await tunnel(ip, agent.proxyPort, 'u', 'www.denied.test:443')).status).toBe(403)
    expect(asked.filter(name => name.includes('denied'))).toEqual([])
    expect((await get('http://notdenied.test/')).status).toBe(502)
  })

  test('403 for an address in the deny list, asked for directly or through a name', async () => {
    expect((await get('http://127.77.3.4/')).status).toBe(403)
    expect((await get('http://127.78.0.1/')).status).toBe(403)
    expect((await get('http://listed.test/')).status).toBe(403)
  })

  test('502 for a name that does not resolve and a target that refuses, 504 for names that take too long', async () => {
    expect((await get('http://nowhere.test/')).status).toBe(502)
    expect((await get('http://127.0.0.1:1/')).status).toBe(502)
    expect((await get('http://slow.test/')).status).toBe(504)
  })
})

describe('destinations', () => {
  const get = (url: string): ReturnType<typeof proxied> => proxied(ip, agent.proxyPort, 'u', url)

  const refused =
    '0.0.0.0 10.0.0.1 100.64.0.1 100.100.100.200 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 ' +
    '192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 ' +
    '168.63.129.16 [::1] [::] [::ffff:10.0.0.1] [::ffff:a00:1] [64:ff9b::10.0.0.1] [64:ff9b::a9fe:a9fe] ' +
    '[2002:a00:1::] [2002:c0a8:101::] [::10.0.0.1] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] ' +
    '[ff02::1] [2001:db8::1] [2001::1] [100::1]'
  test.each(refused.split(' '))('403 for %s', async host => {
    expect((await get(`http://${host}/`)).status).toBe(403)
    expect((await tunnel(ip, agent.proxyPort, 'u', `${host}:443`)).status).toBe(403)
  })

  test.each(['2130706433', '0x7f000001', '127.1', '0177.0.0.1', '127.0.0.0x1'])('%s is no name', async host => {
    expect((await get(`http://${host}/`)).status).toBe(502)
    expect(asked).not.toContain(host)
  })

  test('names that resolve into refused ranges are refused, also where only one of their addresses is', async () => {
    for (const name of ['inside.test', 'mixed.test', 'mapped.test']) {
      expect((await get(`http://${name}:${target.port}/`)).status).toBe(403)
      expect((await socks(ip, agent.proxyPort, 'u', socksAddress(name), 80)).code).toBe(2)
    }
  })

  test('a name is asked once a connection: the address that was judged is the one that is dialled', async () => {
    expect((await get(`http://moving.test:${target.port}/`)).status).toBe(200)
    expect((await get(`http://moving.test:${target.port}/`)).status).toBe(403)
    expect(asked.filter(name => name === 'moving.test')).toHaveLength(2)
  })

  test.each([25, 465, 587])('port %d is closed, and the refusal says so', async port => {
    const refused = await get(`http://8.8.8.8:${port}/`)
    expect([refused.status, refused.body]).toEqual([403, `Port ${port} is closed for proxies\n`])
    expect((await tunnel(ip, agent.proxyPort, 'u', `8.8.8.8:${port}`)).status).toBe(403)
    expect((await socks(ip, agent.proxyPort, 'u', socksAddress('8.8.8.8'), port)).code).toBe(2)
  })

  test('the management port is closed on every address of this machine, although loopback is allowed', async () => {
    for (const host of [
      '127.0.0.1',
      '127.1.2.3',
      `${agent.net}.1.1`,
      'public.test',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]'
    ]) {
      expect((await tunnel(ip, agent.proxyPort, 'u', `${host}:${agent.port}`)).status).toBe(403)
    }
  })
})

test('ports that are not listed as open are refused to connections and datagrams, and counted as such', async () => {
  const target = await httpTarget()
  const agent = await testAgent({ config: { allowPorts: [{ first: target.port, last: target.port }] } })
  const ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`])
  expect((await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)).status).toBe(200)
  const refused = await proxied(ip, agent.proxyPort, 'u', 'http://8.8.8.8:8080/')
  expect([refused.status, refused.body]).toEqual([403, 'Port 8080 is closed for proxies\n'])
  expect((await tunnel(ip, agent.proxyPort, 'u', '8.8.8.8:25')).status).toBe(403)
  const { rows } = agentTraffic.parse((await agent.call('GET', '/api/traffic')).json)
  expect(rows.find(({ user }) => user === 'u')?.codes).toEqual({ 'refused-port': 2 })
})

test("no way leads to the server's own addresses", async () => {
  const resolve: Resolve = (_name, _family, answer) => answer({ ok: true, addresses: ['8.8.4.4'] })
  const run = (): Promise<{ code: number; output: string }> => Promise.resolve({ code: 0, output: '' })
  const other = await testAgent({ world: { resolve, run } })
  await other.call('PUT', '/api/prefixes', { prefixes: ['8.8.4.0/24', `${other.net}.0.0/16`] })
  await lease(other.call, 'u', [`${other.net}.1.1/32`])
  const from = `${other.net}.1.1`
  for (const host of ['8.8.4.4', 'myself.test', '[::ffff:8.8.4.4]', '[::ffff:808:404]', '[64:ff9b::808:404]']) {
    expect((await tunnel(from, other.proxyPort, 'u', `${host}:22`)).status).toBe(403)
    expect((await proxied(from, other.proxyPort, 'u', `http://${host}:5432/`)).status).toBe(403)
  }
  const mapped = Buffer.from([4, ...Array.from({ length: 10 }, () => 0), 255, 255, 8, 8, 4, 4])
  expect((await socks(from, other.proxyPort, 'u', mapped, 22)).code).toBe(2)
  expect((await socks(from, other.proxyPort, 'u', socksAddress('myself.test'), 22)).code).toBe(2)
})
