import { describe, expect, test } from 'vitest'
import { agentTrafficChanges } from '@netlet/contract/agent'
import {
  basic,
  echoTarget,
  floodTarget,
  httpTarget,
  lease,
  proxied,
  RawClient,
  socks,
  socksAddress,
  startedAgain,
  tcpTarget,
  testAgent,
  tunnel,
  until
} from './test-agent.ts'
import type { Call, TestAgent } from './test-agent.ts'

const statusOf = async (agent: TestAgent, ip: string, user: string, to: string): Promise<number> =>
  (await tunnel(ip, agent.proxyPort, user, to)).status
const codesOf = async (call: Call, user: string): Promise<Record<string, number>> => {
  const { rows } = agentTrafficChanges.parse((await call('GET', '/api/traffic/changes?fresh=1')).json)
  const codes: Record<string, number> = {}
  for (const row of rows.filter(each => each.user === user)) {
    for (const [code, count] of Object.entries(row.codes)) codes[code] = (codes[code] ?? 0) + count
  }
  return codes
}

describe('connections', () => {
  test.each([
    ['of a plan', {}, { limits: { connections: 2 } }],
    ['of any user', { connectionsPerUser: 2 }, {}]
  ])(
    '%s are limited, for HTTP and SOCKS, and counted as refusals; one that ends makes room',
    async (_, limits, plan) => {
      const agent = await testAgent({ limits })
      const echo = await echoTarget()
      const ip = `${agent.net}.1.1`
      await lease(agent.call, 'u', [`${ip}/32`], plan)
      await lease(agent.call, 'other', [`${agent.net}.1.2/32`])
      const first = await tunnel(ip, agent.proxyPort, 'u', echo.host)
      expect([first.status, await statusOf(agent, ip, 'u', echo.host)]).toEqual([200, 200])
      const refused = await proxied(ip, agent.proxyPort, 'u', `http://${echo.host}/`)
      expect([refused.status, refused.body]).toEqual([
        429,
        expect.stringContaining('Too many connections for this user')
      ])
      expect((await socks(ip, agent.proxyPort, 'u', socksAddress('127.0.0.1'), echo.port)).code).toBe(-1)
      expect(await statusOf(agent, `${agent.net}.1.2`, 'other', echo.host)).toBe(200)
      expect(await codesOf(agent.call, 'u')).toEqual({ 'too-many': 2 })
      first.rawClient.socket.destroy()
      await until('room', async () => (await statusOf(agent, ip, 'u', echo.host)) === 200)
    }
  )

  test('of one leased address and of one client are limited across users', async () => {
    const agent = await testAgent({ limits: { connectionsPerAddress: 2, connectionsPerClient: 3 } })
    const echo = await echoTarget()
    const [a, b] = [`${agent.net}.1.1`, `${agent.net}.1.2`]
    // Two users may lease the same address if their rules do not overlap.
    await lease(agent.call, 'one', [`${a}/32`])
    await lease(agent.call, 'two', [`${a}/32`, `${b}/32`])
    expect(await statusOf(agent, a, 'one', echo.host)).toBe(200)
    expect(await statusOf(agent, a, 'two', echo.host)).toBe(200)
    expect(await statusOf(agent, a, 'two', echo.host)).toBe(429)
    expect(await statusOf(agent, b, 'two', echo.host)).toBe(200)
    expect(await statusOf(agent, b, 'two', echo.host)).toBe(429)
    expect(await codesOf(agent.call, 'two')).toEqual({ 'too-many-address': 1, 'too-many-client': 1 })
  })

  test('that come too fast are refused until time has passed, by the plan, the address or the client', async () => {
    const cases = [
      [1, {}, { limits: { connections_per_second: 1 } }, 'too-fast'],
      [1, { newPerUser: 1 }, {}, 'too-fast'],
      [1, { newPerAddress: 1 }, {}, 'too-fast-address'],
      [5, { newPerClient: 5 }, {}, 'too-fast-client']
    ] as const
    const echo = await echoTarget()
    for (const [rate, limits, more, code] of cases) {
      const agent = await testAgent({ limits })
      const ip = `${agent.net}.1.1`
      await lease(agent.call, 'u', [`${ip}/32`], more)
      const began = performance.now()
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(agent, ip, 'u', echo.host)))
      // What two seconds allow at once, and then the rate.
      const most = 2 * rate + 1 + (rate * (performance.now() - began)) / 1000
      expect(statuses.filter(status => status === 200).length, code).toBeLessThanOrEqual(most)
      expect(new Set(statuses), code).toEqual(new Set([200, 429]))
      expect(Object.keys(await codesOf(agent.call, 'u'))).toEqual([code])
      if (code === 'too-fast-client')
        await until('time to pass', async () => (await statusOf(agent, ip, 'u', echo.host)) === 200)
    }
  })

  test('to targets count, too, but for the first one of each client connection, which stays and serves what is open', async () => {
    const agent = await testAgent()
    let opened = 0
    /** @param answers what a connection answers before the target closes it */
    const answering = (answers: number): ReturnType<typeof tcpTarget> =>
      tcpTarget(socket => {
        opened++
        let left = answers
        socket.on('data', () => {
          if (left-- > 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
          else socket.destroy()
        })
      })
    const [a, b, closing] = [await answering(100), await answering(100), await answering(1)]
    const requests = async (user: string, hosts: string[]): Promise<string[]> => {
      opened = 0
      const ip = `${agent.net}.1.1`
      await lease(agent.call, user, [`${ip}/32`], { limits: { connections_per_second: 1 } })
      const client = new RawClient(ip, agent.proxyPort)
      client.send(hosts.map(to => `GET http://${to}/ HTTP/1.1\r\nHost: ${to}\r\n${basic(user)}\r\n`).join(''))
      const statuses = (): string[] => client.text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []
      await until('all answers', () => statuses().length === hosts.length)
      expect(client.closed).toBe(false)
      client.socket.destroy()
      return statuses()
    }
    for (const [user, hosts, served] of [
      ['u', Array.from({ length: 20 }, () => [a.host, a.host, b.host, b.host]).flat(), 20],
      ['v', Array.from({ length: 40 }, () => closing.host), 1]
    ] as const) {
      const began = performance.now()
      const statuses = await requests(user, [...hosts])
      // A burst of two minus the login, and one more each second.
      expect(opened).toBeLessThanOrEqual(3 + (performance.now() - began) / 1000)
      expect(new Set(statuses)).toEqual(new Set(['200', '429']))
      // Requests to a connected target are served throughout.
      expect(statuses.filter(status => status === '200').length).toBeGreaterThanOrEqual(served)
      expect(Object.keys(await codesOf(agent.call, user))).toEqual(['too-fast'])
    }
  })
})

/** Opens a tunnel and counts the bytes that it brings. */
async function countedTunnel(
  agent: TestAgent,
  ip: string,
  to: string
): Promise<{ rawClient: RawClient; bytes: () => number }> {
  const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', to)
  let bytes = 0
  rawClient.socket.removeAllListeners('data')
  rawClient.socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  return { rawClient, bytes: () => bytes }
}

describe('speed', () => {
  test('is limited for all connections of a user together, which have some each, and is another one when the plan changes', async () => {
    const agent = await testAgent()
    const from = await floodTarget()
    const ip = `${agent.net}.1.1`
    await lease(agent.call, 'u', [`${ip}/32`], { limits: { mbps: 20 } })
    const began = performance.now()
    const open = await Promise.all(Array.from({ length: 4 }, () => countedTunnel(agent, ip, from.host)))
    const all = (): number => open.reduce((sum, { bytes }) => sum + bytes(), 0)
    await until('some of it', () => all() > 1_500_000)
    // 2.5 MB a second, after the burst.
    expect(performance.now() - began).toBeGreaterThan(400)
    expect(Math.min(...open.map(({ bytes }) => bytes()))).toBeGreaterThan(100_000)
    await lease(agent.call, 'u', [`${ip}/32`], { limits: { mbps: 0.01 } })
    await lease(agent.call, 'u', [`${ip}/32`])
    const before = all()
    await until('full speed', () => all() > before + 20_000_000)
    expect(open.every(({ rawClient }) => !rawClient.closed)).toBe(true)
    for (const { rawClient } of open) rawClient.socket.destroy()
  })

  test('is lifted with the plan for connections that it holds up', async () => {
    const agent = await testAgent()
    const from = await floodTarget()
    const ip = `${agent.net}.1.1`
    await lease(agent.call, 'u', [`${ip}/32`], { limits: { mbps: 0.01 } })
    const { rawClient, bytes } = await countedTunnel(agent, ip, from.host)
    await lease(agent.call, 'u', [`${ip}/32`])
    await until('full speed', () => bytes() > 5_000_000)
    rawClient.socket.destroy()
  })

  test('holds for connections that follow on each other, for what they bring along too', async () => {
    const agent = await testAgent()
    const size = 60_000
    const big = await tcpTarget(socket =>
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`))
    )
    const [down, up] = [`${agent.net}.1.1`, `${agent.net}.1.2`]
    await lease(agent.call, 'down', [`${down}/32`], { limits: { mbps: 4 } })
    await lease(agent.call, 'up', [`${up}/32`], { limits: { mbps: 0.01 } })
    const began = performance.now()
    for (let n = 0; n < 8; n++) {
      expect((await proxied(down, agent.proxyPort, 'down', `http://${big.host}/`)).body).toHaveLength(size)
    }
    // 480 kB at half a megabyte a second, after the burst.
    expect(performance.now() - began).toBeGreaterThan(500)
    const before = performance.now()
    const head = `POST http://${big.host}/ HTTP/1.1\r\nHost: x\r\n${basic('up')}Content-Length: ${size}\r\n\r\n`
    let taken = 0
    for (let n = 0; n < 10; n++) {
      const rawClient = new RawClient(up, agent.proxyPort).send(`${head}${'x'.repeat(size)}`)
      const [, status] = await rawClient.take(/^HTTP\/1\.1 (\d{3}) /)
      if (status === '200') taken++
      else expect(status).toBe('429')
      rawClient.socket.destroy()
    }
    // The burst allows one, and the debt may allow another. A slow machine earns more.
    expect(taken).toBeLessThanOrEqual(3 + ((performance.now() - before) * 1.25) / size)
  })

  test('of uploads is limited too', async () => {
    const agent = await testAgent()
    let got = 0
    const sink = await tcpTarget(socket => void socket.on('data', chunk => (got += chunk.length)))
    const ip = `${agent.net}.1.1`
    await lease(agent.call, 'u', [`${ip}/32`], { limits: { mbps: 8 } })
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', sink.host)
    rawClient.send(Buffer.alloc(800_000))
    const began = performance.now()
    await until('all of it', () => got === 800_000)
    // 1 MB a second, after the burst.
    expect(performance.now() - began).toBeGreaterThan(300)
  })
})

describe('a quota', () => {
  test('ends tunnels when it is used up, and refuses what comes then, readably; a new one opens again', async () => {
    const agent = await testAgent()
    const from = await floodTarget()
    const target = await httpTarget()
    const ip = `${agent.net}.1.1`
    const quota = (id: string, bytes: number) =>
      lease(agent.call, 'u', [`${ip}/32`], { limits: { quota: { id, bytes } } })
    await quota('1', 1_000_000)
    const { status, rawClient } = await tunnel(ip, agent.proxyPort, 'u', from.host)
    expect(status).toBe(200)
    await until('the tunnel to end', () => rawClient.closed)
    const rows = [...((await agent.call('GET', '/api/traffic')).json['rows'] ?? [])]
    expect(Number(rows.find(row => row['user'] === 'u')?.['down'])).toBeGreaterThan(1_000_000 - 10_000)
    const refused = await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`)
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('traffic of this order is used up')])
    expect((await socks(ip, agent.proxyPort, 'u', socksAddress('127.0.0.1'), target.port)).code).toBe(2)
    expect(await codesOf(agent.call, 'u')).toEqual({ quota: 3 })
    // Repeating the same quota adds nothing.
    await quota('1', 1_000_000)
    expect(await statusOf(agent, ip, 'u', target.host)).toBe(403)
    // A larger quota with the same id continues the count.
    await quota('1', 50_000_000)
    await until('more', async () => (await statusOf(agent, ip, 'u', target.host)) === 200)
    await quota('2', 1_000_000)
    expect(await statusOf(agent, ip, 'u', target.host)).toBe(200)
    await quota('3', 0)
    expect(await statusOf(agent, ip, 'u', target.host)).toBe(403)
    await lease(agent.call, 'u', [`${ip}/32`])
    expect(await statusOf(agent, ip, 'u', target.host)).toBe(200)
  })

  test('counts on after a restart', async () => {
    const first = await testAgent()
    const target = await httpTarget()
    const ip = `${first.net}.1.1`
    await lease(first.call, 'u', [`${ip}/32`], { limits: { quota: { id: '1', bytes: 10 } } })
    // A request that is in flight when the quota ends is reset.
    const answered = () => proxied(ip, first.proxyPort, 'u', `http://${target.host}/`).catch(() => null)
    await until('the quota to end', async () => (await answered())?.status === 403)
    expect(await statusOf(await startedAgain(first), ip, 'u', target.host)).toBe(403)
  })

  test('that makes no sense is refused, and limits are part of what is compared', async () => {
    const agent = await testAgent()
    const ip = `${agent.net}.1.1/32`
    const put = (limits: unknown) => agent.call('PUT', '/api/users/u', { password: 'p', prefixes: [ip], limits })
    expect((await put({ quota: { id: '1', bytes: -1 } })).status).toBe(400)
    expect((await put({ mbps: 0 })).status).toBe(400)
    const hashes = []
    for (const limits of [
      undefined,
      {},
      { mbps: 1 },
      { mbps: 2 },
      { connections: 1 },
      { quota: { id: '1', bytes: 1 } }
    ])
      hashes.push(String((await put(limits)).json['hash']))
    expect(hashes[1]).toBe(hashes[0])
    expect(new Set(hashes).size).toBe(5)
  })
})
