import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  basic,
  echoTarget,
  httpTarget,
  lease,
  proxied,
  socks,
  socksAddress,
  tcpTarget,
  type TestAgent,
  testAgent,
  tunnel,
  until,
  RawClient
} from './test-agent.ts'

let agent: TestAgent
let target: Awaited<ReturnType<typeof httpTarget>>
let echo: Awaited<ReturnType<typeof echoTarget>>
beforeAll(async () => {
  agent = await testAgent()
  target = await httpTarget()
  echo = await echoTarget()
})

describe('traffic leaves from the address that the client connected to', () => {
  test('over hundreds of addresses at once, with HTTP, CONNECT and SOCKS5', async () => {
    await lease(agent.call, 'many', [`${agent.net}.7.0/24`])
    const ips = Array.from({ length: 256 }, (_, n) => `${agent.net}.7.${n}`)
    const seen = await Promise.all(
      ips.map(async (ip, n) => {
        if (n % 3 === 0) {
          const got = await proxied(ip, agent.proxyPort, 'many', `http://${target.host}/who`)
          return (JSON.parse(got.body) as { from: string }).from
        }
        const opened =
          n % 3 === 1
            ? await tunnel(ip, agent.proxyPort, 'many', echo.host)
            : await socks(ip, agent.proxyPort, 'many', socksAddress('127.0.0.1'), echo.port)
        const [, from] = await opened.rawClient.take(/^(\S+)\n/)
        opened.rawClient.socket.destroy()
        return from
      })
    )
    expect(seen).toEqual(ips)
  })

  test('and several users may hold the same address at the same time', async () => {
    await lease(agent.call, 'first', [`${agent.net}.8.1/32`])
    await lease(agent.call, 'second', [`${agent.net}.8.1/32`], { password: 'other' })
    const ip = `${agent.net}.8.1`
    const [a, b] = await Promise.all([
      proxied(ip, agent.proxyPort, 'first', `http://${target.host}/`),
      proxied(ip, agent.proxyPort, 'second', `http://${target.host}/`, { password: 'other' })
    ])
    expect([a.status, b.status]).toEqual([200, 200])
    expect((await proxied(ip, agent.proxyPort, 'first', `http://${target.host}/`, { password: 'other' })).status).toBe(
      407
    )
  })
})

describe('HTTP', () => {
  const ip = (): string => `${agent.net}.9.5`
  beforeAll(() => lease(agent.call, 'web', [`${agent.net}.9.4/30`]))

  test('streams request and response bodies of any framing', async () => {
    const body = 'abc'.repeat(50_000)
    const plain = await proxied(ip(), agent.proxyPort, 'web', `http://${target.host}/p`, {
      method: 'POST',
      headers: `Content-Length: ${body.length}\r\n`,
      body
    })
    expect((JSON.parse(plain.body) as { body: string }).body).toBe(body)
    const chunked = await proxied(ip(), agent.proxyPort, 'web', `http://${target.host}/c`, {
      method: 'POST',
      headers: 'Transfer-Encoding: chunked\r\n',
      body: '5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n'
    })
    expect((JSON.parse(chunked.body) as { body: string }).body).toBe('hello world')
  })

  test('keeps the connection for further requests, pipelined ones too, in order', async () => {
    const rawClient = new RawClient(ip(), agent.proxyPort)
    const one = (path: string): string => `GET http://${target.host}${path} HTTP/1.1\r\nHost: x\r\n${basic('web')}\r\n`
    rawClient.send(one('/1') + one('/2') + one('/3'))
    for (const path of ['/1', '/2', '/3']) {
      const match = await rawClient.take(/"url":"([^"]+)"[^]*?\}/)
      expect(match[1]).toBe(path)
    }
    rawClient.send(one('/4'))
    await rawClient.take(/"url":"\/4"/)
    expect(rawClient.closed).toBe(false)
  })

  test('tells the target nothing of a proxy, and replaces Host by the address asked for', async () => {
    const got = await proxied(ip(), agent.proxyPort, 'web', `http://${target.host}/h?q=1`, {
      headers:
        'Proxy-Connection: keep-alive\r\nVia: 1.1 x\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: for=1\r\nX-Keep: yes\r\n' +
        'Proxy-Secret: s\r\nTE: trailers\r\nKeep-Alive: timeout=5\r\n'
    })
    const { rawHeaders, url } = JSON.parse(got.body) as { rawHeaders: string[]; url: string }
    expect(url).toBe('/h?q=1')
    const names = rawHeaders.filter((_, n) => n % 2 === 0).map(name => name.toLowerCase())
    expect(names).toEqual(['host', 'connection', 'x-keep'])
    expect(rawHeaders[1]).toBe(target.host)
    expect(got.head.toLowerCase()).not.toMatch(/^(?:via|proxy|keep-alive|forwarded)/m)
  })

  test('drops headers that Connection names, but never those that carry meaning', async () => {
    const rawClient = new RawClient(ip(), agent.proxyPort)
    rawClient.send(
      `GET http://${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('web')}X-Hop: 1\r\nAuthorization: me\r\n` +
        'Connection: close, x-hop, authorization\r\n\r\n'
    )
    const text = await rawClient.over()
    expect(text).not.toContain('X-Hop')
    expect(text).toContain('"Authorization","me"')
  })

  test('answers HTTP/1.0 clients without chunks and closes', async () => {
    const chunky = await tcpTarget(socket =>
      socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')
      )
    )
    const rawClient = new RawClient(ip(), agent.proxyPort)
    rawClient.send(`GET http://${chunky.host}/ HTTP/1.0\r\n${basic('web')}\r\n`)
    const text = await rawClient.over()
    expect(text).toMatch(/\r\n\r\nhello$/)
    expect(text).not.toMatch(/transfer-encoding/i)
  })

  test('passes bodies without length until the target closes, HEAD and 304 without body, 100 before the answer', async () => {
    const odd = await tcpTarget(socket => {
      socket.once('data', (chunk: Buffer) => {
        const text = chunk.toString('latin1')
        if (text.startsWith('HEAD')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n')
        else if (text.includes('/304')) socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n')
        else if (text.includes('/100')) {
          socket.write('HTTP/1.1 100 Continue\r\n\r\n')
          socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
        } else socket.end('HTTP/1.1 200 OK\r\n\r\nuntil the end')
      })
    })
    const ask = (start: string, more = ''): RawClient =>
      new RawClient(ip(), agent.proxyPort).send(`${start} HTTP/1.1\r\nHost: x\r\n${basic('web')}${more}\r\n`)
    expect(await ask(`GET http://${odd.host}/close`).over()).toMatch(/Connection: close\r\n\r\nuntil the end$/)
    const head = ask(`HEAD http://${odd.host}/h`)
    await head.take(/Content-Length: 5000\r\n\r\n$/)
    const notModified = ask(`GET http://${odd.host}/304`)
    await notModified.take(/304 Not Modified\r\n[^]*\r\n\r\n$/)
    const expecting = ask(`POST http://${odd.host}/100`, 'Expect: 100-continue\r\nContent-Length: 3\r\n')
    await expecting.take(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
    expecting.send('abc')
    await expecting.take(/\r\n\r\nok$/)
  })

  test('upgrades to another protocol and joins the connections', async () => {
    const upgrading = await tcpTarget(socket => {
      socket.once('data', (chunk: Buffer) => {
        const asked = /upgrade: websocket/i.test(chunk.toString('latin1'))
        socket.write(
          asked ? 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi' : ''
        )
        socket.pipe(socket)
      })
    })
    const rawClient = new RawClient(ip(), agent.proxyPort)
    rawClient.send(
      `GET http://${upgrading.host}/ws HTTP/1.1\r\nHost: x\r\n${basic('web')}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
    )
    await rawClient.take(/^HTTP\/1\.1 101 [^]*Upgrade: websocket\r\n[^]*\r\n\r\nhi/)
    rawClient.send('ping').send(Buffer.from([0, 255]))
    expect(await rawClient.bytes(6)).toEqual(Buffer.concat([Buffer.from('ping'), Buffer.from([0, 255])]))
  })

  test('asks again on a new connection where the target closed the kept one', async () => {
    let connections = 0
    const fickle = await tcpTarget(socket => {
      connections++
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        // The next request on this connection meets a reset.
        socket.once('data', () => socket.resetAndDestroy())
      })
    })
    const rawClient = new RawClient(ip(), agent.proxyPort)
    for (let n = 0; n < 3; n++) {
      rawClient.send(`GET http://${fickle.host}/${n} HTTP/1.1\r\nHost: x\r\n${basic('web')}\r\n`)
      await rawClient.take(/200 OK\r\n[^]*?\r\n\r\nok/)
    }
    expect(connections).toBe(3)
  })

  test('carries megabytes both ways through a slow reader unharmed', async () => {
    const size = 8 << 20
    const { rawClient } = await tunnel(ip(), agent.proxyPort, 'web', echo.host)
    await rawClient.take(/^\S+\n/)
    const block = Buffer.alloc(size)
    for (let n = 0; n < size; n += 4) block.writeUInt32LE((n * 2654435761) >>> 0, n)
    rawClient.socket.pause()
    rawClient.socket.write(block)
    await until('the pipe to fill', () => rawClient.socket.writableLength < size)
    rawClient.socket.resume()
    expect((await rawClient.bytes(size)).equals(block)).toBe(true)
  })

  test('carries an end of one direction on, and keeps the other open', async () => {
    const { rawClient } = await tunnel(ip(), agent.proxyPort, 'web', echo.host)
    await rawClient.take(/^\S+\n/)
    rawClient.socket.end('last words')
    expect(await rawClient.over()).toBe('last words')
  })
})

describe('SOCKS5', () => {
  const ip = (): string => `${agent.net}.10.1`
  beforeAll(() => lease(agent.call, 'sock', [`${agent.net}.10.0/31`], { denied_domains: ['blocked.test'] }))
  const ask = (address: Buffer, port: number, options = {}): Promise<{ code: number; rawClient: RawClient }> =>
    socks(ip(), agent.proxyPort, 'sock', address, port, options)

  test('connects by IPv4 address and by name, with data sent ahead', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { code, rawClient } = await ask(socksAddress(host), echo.port)
      expect(code).toBe(0)
      await rawClient.take(new RegExp(`^${ip().replaceAll('.', '\\.')}\\n`))
      rawClient.send('abc')
      expect((await rawClient.bytes(3)).toString()).toBe('abc')
    }
  })

  test('refuses with the fitting code', async () => {
    const closed = await tcpTarget(() => {})
    await new Promise<void>(resolve =>
      connect(closed.port, '127.0.0.1', function (this: { destroy: () => void }) {
        this.destroy()
        resolve()
      })
    )
    expect((await ask(socksAddress('www.blocked.test'), 80)).code).toBe(2)
    expect((await ask(socksAddress('10.0.0.1'), 80)).code).toBe(2)
    expect((await ask(socksAddress('127.0.0.1'), 1)).code).toBe(5)
    expect((await ask(socksAddress('127.0.0.1'), echo.port, { command: 2 })).code).toBe(7)
    expect((await ask(Buffer.from([9, 1, 2, 3, 4]), 80)).code).toBe(8)
    expect((await ask(socksAddress('127.0.0.1'), echo.port, { password: 'wrong' })).code).toBe(-1)
    const anonymous = new RawClient(ip(), agent.proxyPort).send(Buffer.from([5, 1, 0]))
    expect([...(await anonymous.bytes(2))]).toEqual([5, 0xff])
  })

  test("refuses an address that is not the user's own", async () => {
    const { code } = await socks(`${agent.net}.10.9`, agent.proxyPort, 'sock', socksAddress('127.0.0.1'), echo.port)
    expect(code).toBe(-1)
  })
})
