import { beforeAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../src/proxy/limits.ts'
import { guardedAgent, type Guarded } from './guarded.ts'
import { basic, proxied, RawClient, tcpTarget, until } from './test-agent.ts'
import { NEVER, testPlane } from './test-plane.ts'

let agent: Guarded['agent']
let ip: string
let target: Guarded['target']
beforeAll(async () => {
  ;({ agent, ip, target } = await guardedAgent())
})

const send = (bytes: string): RawClient => new RawClient(ip, agent.proxyPort).send(bytes)
const start = (): string => `POST http://${target.host}/ HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}`

describe('what two parsers could read differently is refused with 400, and reaches no target', () => {
  const cases: Record<string, () => string> = {
    'two equal lengths': () => `${start()}Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd`,
    'two different lengths': () => `${start()}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`,
    'a list of lengths': () => `${start()}Content-Length: 4, 4\r\n\r\nabcd`,
    'a signed length': () => `${start()}Content-Length: +4\r\n\r\nabcd`,
    'a length beside chunks': () => `${start()}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two encodings': () => `${start()}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'an encoding list': () => `${start()}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'an obscured encoding': () => `${start()}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'an encoding in HTTP/1.0': () => `${start().replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a folded header': () => `${start()}X-A: 1\r\n folded\r\n\r\n`,
    'a space before the colon': () => `${start()}Content-Length : 4\r\n\r\nabcd`,
    'a header without colon': () => `${start()}Oops\r\n\r\n`,
    'a bare LF as line end': () => `${start()}X-A: 1\nX-B: 2\r\n\r\n`,
    'only bare LFs': () => start().replaceAll('\r\n', '\n') + '\n',
    'a bare CR in a value': () => `${start()}X-A: 1\rX-B: 2\r\n\r\n`,
    'a NUL in a value': () => `${start()}X-A: a\0b\r\n\r\n`,
    'two Host headers': () => `${start()}Host: other\r\n\r\n`,
    'two spaces in the request line': () => start().replace('POST ', 'POST  ') + '\r\n',
    'another protocol version': () => start().replace('HTTP/1.1', 'HTTP/2.0') + '\r\n',
    'an address without scheme': () => `GET / HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}\r\n`,
    'a user in the address': () => `GET http://a:b@${target.host}/ HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`,
    'an encoded host': () => `GET http://%65xample.com/ HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`,
    'a port out of range': () => `CONNECT 127.0.0.1:65536 HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`,
    'a CONNECT with a body': () =>
      `CONNECT ${target.host} HTTP/1.1\r\nHost: x\r\n${basic('u')}Content-Length: 4\r\n\r\nabcd`,
    'not HTTP at all': () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'
  }
  test.each(Object.keys(cases))('%s', async name => {
    const before = target.requests()
    const text = await send(cases[name]?.() ?? '').over()
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    // One answer: the agent does not parse what follows a bad head.
    expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    expect(target.requests()).toBe(before)
  })

  const chunks: Record<string, string> = {
    'a size that is no number': 'zz\r\nhello\r\n0\r\n\r\n',
    'an empty size': '\r\nhello\r\n0\r\n\r\n',
    'a 0x size': '0x5\r\nhello\r\n0\r\n\r\n',
    'a negative size': '-5\r\nhello\r\n0\r\n\r\n',
    'a huge size': 'fffffffffffffffff\r\nhello',
    'a space after the size': '5 \r\nhello\r\n0\r\n\r\n',
    'a bare LF after the size': '5\nhello\r\n0\r\n\r\n',
    'data longer than its size': '4\r\nhello\r\n0\r\n\r\n',
    'a bare LF in an extension': '5;a\nb\r\nhello\r\n0\r\n\r\n',
    'an endless extension': `5;${'a'.repeat(400)}\r\nhello\r\n0\r\n\r\n`,
    'an endless trailer': `0\r\n${'a'.repeat(9000)}`
  }
  test.each(Object.keys(chunks))('bad chunking: %s', async name => {
    const text = await send(`${start()}Transfer-Encoding: chunked\r\n\r\n${chunks[name]}`).over()
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('chunks that come in single bytes are read like any others', async () => {
    const rawClient = send(`${start()}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`)
    for (const byte of '5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nT: v\r\n\r\n') rawClient.send(byte)
    expect(await rawClient.over()).toContain('"body":"hello!"')
  })

  test('a body that is refused is not taken for another request', async () => {
    const inner = `GET http://${target.host}/smuggled HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
    const before = target.requests()
    const text = await send(
      `POST http://www.example.com/ HTTP/1.1\r\nHost: x\r\n${basic('u')}Content-Length: ${inner.length}\r\n\r\n${inner}`
    ).over()
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    expect(target.requests()).toBe(before)
  })
})

describe('answers of hostile targets stay with the request that they belong to', () => {
  const answers: Record<string, string> = {
    'two different lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    'a bare CR': 'HTTP/1.1 200 OK\rContent-Length: 1\r\n\r\na',
    'no status line': 'hello\r\n\r\n',
    'a header without a name': 'HTTP/1.1 200 OK\r\n: 2\r\n\r\n',
    'an upgrade that nobody asked for': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'a head without end': `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}`
  }
  test.each(Object.keys(answers))('502 for %s', async name => {
    const bad = await tcpTarget(socket => socket.once('data', () => socket.write(answers[name] ?? '')))
    const got = await proxied(ip, agent.proxyPort, 'u', `http://${bad.host}/`)
    expect(got.status).toBe(502)
  })

  test('bytes behind an answer never become the next answer', async () => {
    const greedy = await tcpTarget(socket =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil')
      )
    )
    const rawClient = send(`GET http://${greedy.host}/1 HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`)
    await rawClient.take(/\r\n\r\nok/)
    rawClient.send(`GET http://${target.host}/2 HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`)
    await rawClient.take(/"url":"\/2"/)
    expect(rawClient.text).not.toContain('evil')
  })
})

describe('limits', () => {
  test('a head that is too large is refused with 431', async () => {
    expect(await send(`${start()}X-A: ${'a'.repeat(5000)}\r\n\r\n`).over()).toMatch(/^HTTP\/1\.1 431 /)
    expect(await send(`${start()}X-A: ${'a'.repeat(5000)}`).over()).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('a head that trickles in is cut off, however busy its client looks', async () => {
    const { port, pass, accepted } = await testPlane({ limits: { sweepMs: NEVER } })
    const client = new RawClient('127.0.0.1', port).send('GET http://x')
    await until('its beginning', () => (accepted[0]?.bytesRead ?? 0) > 0)
    await until('the end of its time', () => {
      client.send('x')
      pass(defaultLimits.headMs / 5)
      return client.ended
    })
    expect(client.text).toMatch(/^HTTP\/1\.1 408 /)
  })

  const get = (host: string): string => `GET http://${host}/ HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
  const connectTo = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
  test.each<[string, (mute: string) => string, RegExp, RegExp]>([
    ['a client that says nothing is let go', () => '', /^$/, /^$/],
    ['half a SOCKS greeting is let go', () => '\x05\x03', /^$/, /^$/],
    ['a kept connection that says nothing more is let go', () => get(target.host), /200 OK[^]*\}$/, /\}$/],
    ['a silent tunnel is closed', connectTo, /^HTTP\/1\.1 200 /, /established\r\n\r\n$/],
    ['a target that does not answer is a 504', get, /^$/, /^HTTP\/1\.1 504 /]
  ])('%s', async (_, says, before, after) => {
    let heard = 0
    const mute = await tcpTarget(socket => void socket.on('data', chunk => (heard += chunk.length)))
    const { port, pass, accepted } = await testPlane({ limits: { sweepMs: NEVER } })
    const said = says(mute.host)
    const client = new RawClient('127.0.0.1', port).send(said)
    await until('it to be silent', () => accepted[0]?.bytesRead === said.length && before.test(client.text))
    if (said === get(mute.host)) await until('the request', () => heard > 0)
    await until('its end', () => {
      pass(defaultLimits.idleMs / 4)
      return client.ended || client.closed
    })
    expect(client.text).toMatch(after)
  })
})
