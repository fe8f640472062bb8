import { beforeAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../src/proxy/limits.ts'
import type { Resolve } from '../src/net/resolver.ts'
import { bytesOf, encryptedHello, hello, realHello, serverName } from './names.ts'
import {
  basic,
  lease,
  proxied,
  RawClient,
  socks,
  socksAddress,
  tcpTarget,
  testAgent,
  type TestAgent,
  tunnel,
  until
} from './test-agent.ts'
import { NEVER, testPlane } from './test-plane.ts'

/** The address of the denied site. The alias and an open site share it. */
const SITE = '127.0.0.1'
const names: Record<string, string> = { 'www.denied.test': SITE, 'alias.test': SITE, 'open.test': SITE }

let agent: TestAgent
let ip: string
let ownerIp: string
let target: Awaited<ReturnType<typeof tcpTarget>>
/** What the target received: one text per connection. */
let reached: string[] = []
/** Bytes of the current `outcome` that the target has not received yet. */
let missing = 0

beforeAll(async () => {
  const resolve: Resolve = (name, _family, answer) => {
    const address = names[name]
    answer(address === undefined ? { ok: false, reason: 'not-found' } : { ok: true, addresses: [address] })
  }
  agent = await testAgent({ world: { resolve }, limits: { headMs: 60_000, sweepMs: 20 } })
  target = await tcpTarget(socket => {
    const n = reached.push('') - 1
    socket.on('data', (chunk: Buffer) => {
      reached[n] += chunk.toString('latin1')
      missing -= chunk.length
      // Wait for all pieces, so that an answer refers to the last one.
      if (missing <= 0) socket.write('answer')
    })
  })
  ip = `${agent.net}.1.1`
  ownerIp = `${agent.net}.2.1`
  await lease(agent.call, 'u', [`${ip}/32`], { denied_domains: ['denied.test'], allowed_domains: ['shop.denied.test'] })
  await lease(agent.call, 'owner', [`${ownerIp}/32`])
})

type Way = (to: string) => Promise<RawClient>
const byConnect: Way = async to => {
  const { status, rawClient } = await tunnel(ip, agent.proxyPort, 'u', `${to}:${target.port}`)
  expect(status).toBe(200)
  return rawClient
}
const bySocks: Way = async to => {
  const { code, rawClient } = await socks(ip, agent.proxyPort, 'u', socksAddress(to), target.port)
  expect(code).toBe(0)
  return rawClient
}

/** Sends the pieces one after the other. Returns whether the target answered to all of them or the tunnel was reset. */
async function outcome(client: RawClient, pieces: Array<string | Buffer>): Promise<'answered' | 'reset'> {
  let code = ''
  missing = pieces.reduce((sum, { length }) => sum + length, 0)
  client.socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? ''))
  for (const piece of pieces) {
    await new Promise<void>(resolve => {
      if (client.closed) return resolve()
      client.socket.write(piece, 'latin1', () => setImmediate(resolve))
    })
  }
  while (!client.closed && !client.text.includes('answer')) await new Promise(resolve => setTimeout(resolve, 5))
  if (client.closed) expect(code).toMatch(/ECONNRESET|EPIPE/)
  return client.closed ? 'reset' : 'answered'
}

const request = (host: string): string => `GET / HTTP/1.1\r\nAccept: */*\r\nHost: ${host}\r\n\r\n`

describe.each([
  ['CONNECT', byConnect],
  ['SOCKS5', bySocks]
])('a denied site through %s', (_name, open) => {
  test.each(['127.0.0.1', 'alias.test'])('is reset when %s is asked for and the server name tells it', async to => {
    reached = []
    expect(await outcome(await open(to), [await realHello('www.denied.test')])).toBe('reset')
    expect(await outcome(await open(to), [request('WWW.Denied.test:80')])).toBe('reset')
    expect(reached.join('')).toBe('')
  })

  test('is found when the name comes in several pieces or records', async () => {
    const shown = hello([serverName('Denied.Test')], 9)
    expect(await outcome(await open(SITE), [shown])).toBe('reset')
    expect(await outcome(await open(SITE), bytesOf(hello([serverName('a.denied.test')])))).toBe('reset')
    expect(await outcome(await open(SITE), bytesOf(Buffer.from(request('a.denied.test'))))).toBe('reset')
    expect(await outcome(await open(SITE), [`GET / HTTP/1.1\r\nHost:${' '.repeat(3000)}`, 'denied.test\r\n\r\n'])).toBe(
      'reset'
    )
  })

  test('leaves other sites at the same address open, exceptions included', async () => {
    for (const name of ['open.test', 'shop.denied.test', 'notdenied.test']) {
      expect(await outcome(await open(SITE), [await realHello(name)])).toBe('answered')
      expect(await outcome(await open(SITE), [request(name)])).toBe('answered')
    }
    expect(
      await outcome(await open('open.test'), bytesOf(hello([serverName('open.test'), encryptedHello()], 50)))
    ).toBe('answered')
  })
})

describe('in a tunnel of a user with denied domains', () => {
  test('each request is judged, not only the first, however it names its host', async () => {
    const client = await byConnect(SITE)
    expect(await outcome(client, [request('open.test')])).toBe('answered')
    client.received = Buffer.alloc(0)
    reached = []
    expect(await outcome(client, ['GET / HTTP/1.1\r\nHost: den', 'ied.test', '\r\n\r\n'])).toBe('reset')
    expect(reached.join('')).not.toContain('denied.test')
    for (const text of [
      'GET http://denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET https://denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET x+1.a-b://denied.test HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET  http://denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET \t ws://me@denied.test:1/ HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET http://denied.test:x/ HTTP/1.1\r\nHost: open.test\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: denied.test:99999\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: open.test\r\nhost :denied.test\r\n\r\n',
      'GET / HTTP/1.0\nHost:\r\n\tdenied.test.\n\n',
      '\r\nGET / HTTP/1.1\r\nHost: denied.test\r\n\r\n'
    ])
      expect(await outcome(await byConnect(SITE), [text]), text).toBe('reset')
  })

  test('lines longer than what is kept of a piece show their name, or are reset', async () => {
    const long = 'a'.repeat(1200)
    for (const pieces of [
      [`GET http://denied.test/?${long}`, ' HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET http://denied.test?${long}`, ' HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET http://${long}`, '@denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET https://${long}`, '@denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET ${long}`, '://denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET ${' '.repeat(1200)}`, 'https://denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`${request('open.test')}GET http://denied.test/${long}`, ' HTTP/1.1\r\n\r\n'],
      [`GET /?${'b'.repeat(16_500)}`, ' HTTP/1.1\r\nHost: denied.test\r\n\r\n']
    ])
      expect(await outcome(await byConnect(SITE), pieces), pieces[0]?.slice(0, 40)).toBe('reset')
    expect(await outcome(await byConnect(SITE), [`GET /?${long}`, ' HTTP/1.1\r\nHost: open.test\r\n\r\n'])).toBe(
      'answered'
    )
    expect(await outcome(await byConnect(SITE), ['{"line":', `"${long.repeat(20)}"`])).toBe('answered')
    // A long header is not a request line.
    expect(
      await outcome(await byConnect(SITE), [`GET / HTTP/1.1\r\nX-Token: ${long}`, '\r\nHost: open.test\r\n\r\n'])
    ).toBe('answered')
  })

  test('a denied name is found behind empty lines, a long scheme or an old request line; other bytes pass', async () => {
    const denied = 'www.denied.test'
    for (const pieces of [
      ['\r\n'.repeat(15_000), `GET / HTTP/1.1\r\nHost: ${denied}\r\n\r\n`],
      [`GET http://${denied}/\r\n`],
      [`GET /\tHTTP/1.1\r\nHost: ${denied}\r\n\r\n`],
      [`GET / http/1.1\r\n`, `Host: ${denied}\r\n\r\n`],
      ['GET ', 'x'.repeat(900), 'x'.repeat(900), 'x'.repeat(900), `://${denied}/ HTTP/1.1\r\nHost: open.test\r\n\r\n`],
      [`GET ${'x'.repeat(1100)}://ww`, `w.denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n`],
      [`GET ${'x'.repeat(512)}://${'_'.repeat(511)}`, `@${denied}/ HTTP/1.1\r\nHost: open.test\r\n\r\n`],
      [`GET / HTTP/1.1\r\nHost:${'\r\n '.repeat(400)}`, ` ${denied}\r\n\r\n`],
      [
        'POST / HTTP/1.1\r\nHost: open.test\r\n\r\nhost:\r\n',
        `GET http://${denied}/ HTTP/1.1\r\nHost: open.test\r\n\r\n`
      ],
      ['GET / HTTP/1.1\r\nHost:\r\n', `Host: ${denied}\r\n\r\n`],
      [' ', `GET / HTTP/1.1\r\nHost: ${denied}\r\n\r\n`],
      ['GET / HTTP/1.1\r\nHost: -a~.denied.test\r\n\r\n'],
      ['GET / HTTP/1.1\r\nHost: ~.denied.test.\r\n\r\n'],
      [`GET / HTTP/1.1\r\nHost: ${denied}..\r\n\r\n`],
      ['GET / RTSP/1.1\r\n', `Host: ${denied}\r\n\r\n`],
      ['SOURCE / ICE/1.1\r\n', `Host: ${denied}\r\n\r\n`],
      [' \r\n', `GET / HTTP/1.1\r\nHost: ${denied}\r\n\r\n`],
      [` GET http://${denied}/ HTTP/1.1\r\nHost: open.test\r\n\r\n`],
      ['POST / HTTP/1.1\r\nHost: open.test\r\n\r\na body', `GET http://${denied}/ HTTP/1.1\r\n\r\n`],
      ['GET http://www.%64enied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      ['GET http://a%2F.denied.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n'],
      [`GET http://${denied}\\@open.test/ HTTP/1.1\r\nHost: open.test\r\n\r\n`]
    ])
      expect(await outcome(await byConnect(SITE), pieces), pieces.join('').slice(0, 40)).toBe('reset')
    const body = [`ssh-rsa ${'A'.repeat(700)}`, `${'b'.repeat(3000)}\nseq ACGT`, 'ACGT'.repeat(300)]
    const head = 'POST / HTTP/1.1\r\nHost: open.test\r\n\r\n'
    expect(await outcome(await byConnect(SITE), [head, ...body])).toBe('answered')
  })

  test('what follows a first line without a version is judged, where the line may be a request', async () => {
    const line = 'Host: www.denied.test\r\n\r\n'
    for (const pieces of [
      ['GET /\r\n', line],
      ['GET / \r\n', 'Connection: keep-alive\r\nHost: open.test\r\n\r\n', `GET / HTTP/1.1\r\n${line}`],
      ['\x1cGET / HTTP/1.1\r\n', line],
      ['\x85', 'GET /\r\n', line],
      ['GET\x1c/\x1cHTTP/1.1\r\n', line],
      ['GET\xa0/\n', line],
      [`GET\x1f/?${'b'.repeat(16_500)}`, ` HTTP/1.1\r\n${line}`]
    ])
      expect(await outcome(await byConnect(SITE), pieces), JSON.stringify(pieces).slice(0, 40)).toBe('reset')
    for (const pieces of [
      ['GET /\r\n', 'Host: open.test\r\n\r\n'],
      ['EHLO open.test\r\n', 'MAIL FROM:<a@denied.test>\r\n'],
      ['SSH-2.0-OpenSSH_9.6 Debian\r\n', line],
      ['\x1c\x00\r\n', line]
    ])
      expect(await outcome(await byConnect(SITE), pieces), pieces.join('')).toBe('answered')
  })

  test('a TLS hello without a server name is reset, and so is one that cannot be read', async () => {
    expect(await outcome(await byConnect(SITE), [hello([])])).toBe('reset')
    expect(await outcome(await byConnect(SITE), [hello([serverName('open.test'), serverName('denied.test')])])).toBe(
      'reset'
    )
    expect(await outcome(await byConnect(SITE), [hello([serverName('a b')])])).toBe('reset')
    expect(await outcome(await byConnect(SITE), [Buffer.from([22, 3, 1, 0, 5, 2, 0, 0, 1, 0])])).toBe('reset')
    // An SSL 2 hello, with which old libraries begin TLS. It cannot carry a name.
    expect(await outcome(await byConnect(SITE), [Buffer.from([0x80, 0x2e, 1, 3, 1, 0, 3, 0, 0, 0, 16])])).toBe('reset')
  })

  test.each([
    [0, 1],
    [2, 1],
    [0x0f, 0xff],
    [0x99, 9]
  ])('a hello whose record has the version %i.%i is judged as any other', async (major, minor) => {
    const shown = (name: string): Buffer => {
      const bytes = hello([serverName(name)])
      bytes.set([major, minor], 1)
      return bytes
    }
    expect(await outcome(await byConnect(SITE), [shown('denied.test')])).toBe('reset')
    expect(await outcome(await byConnect(SITE), bytesOf(shown('denied.test')))).toBe('reset')
    expect(await outcome(await byConnect(SITE), [shown('open.test')])).toBe('answered')
  })

  test('a hello behind another record is reset: some servers pass over an alert', async () => {
    const shown = hello([serverName('denied.test')])
    for (const record of [
      [20, 3, 3, 0, 1, 1],
      [21, 3, 1, 0, 2, 1, 112],
      [23, 3, 3, 0, 1, 0]
    ]) {
      expect(await outcome(await byConnect(SITE), [Buffer.concat([Buffer.from(record), shown])])).toBe('reset')
      expect(await outcome(await byConnect(SITE), [...bytesOf(Buffer.from(record)), shown])).toBe('reset')
    }
  })

  test('a hello that hides its name behind another one (ECH) is reset', async () => {
    const hidden = (name: string): Buffer => hello([serverName(name), encryptedHello()])
    expect(await outcome(await byConnect(SITE), [hidden('cloudflare-ech.com')])).toBe('reset')
    expect(await outcome(await byConnect('alias.test'), [hidden('open.test')])).toBe('reset')
    // Browsers send a dummy ECH extension to every site, so the visible name decides.
    expect(await outcome(await byConnect(SITE), [hidden('open.test')])).toBe('answered')
    expect(await outcome(await byConnect('open.test'), [hidden('open.test')])).toBe('answered')
  })

  test('a hello that never ends is closed in time', async () => {
    const { port, pass, accepted } = await testPlane({ denied: ['denied.test'], limits: { sweepMs: NEVER } })
    const { rawClient } = await tunnel('127.0.0.1', port, 'u', target.host)
    rawClient.send(hello([serverName('open.test')]).subarray(0, 40))
    await until('it to be read', () => accepted[0]?.bytesRead === rawClient.socket.bytesWritten)
    pass(defaultLimits.headMs + 1)
    await until('the reset', () => rawClient.closed)
  })

  test('HTTP/2 without TLS is reset, other protocols pass', async () => {
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
    expect(await outcome(await byConnect(SITE), [preface])).toBe('reset')
    const upgrading = await byConnect(SITE)
    expect(await outcome(upgrading, [request('open.test')])).toBe('answered')
    upgrading.received = Buffer.alloc(0)
    expect(await outcome(upgrading, ['PRI * HT', preface.slice(8)])).toBe('reset')
    expect(await outcome(await byConnect(SITE), ['SSH-2.0-OpenSSH_9.6\r\n'])).toBe('answered')
    expect(await outcome(await byConnect(SITE), [Buffer.from([0, 0, 0, 9, 1])])).toBe('answered')
    // A telnet client that agrees to an echo, then waits for the server.
    expect(await outcome(await byConnect(SITE), [Buffer.from([255, 253, 1])])).toBe('answered')
  })

  test.each(['a.game13.test', 'mc.game14.test', 'one.game15.test', 'four.game16.test'])(
    'a game that begins with the length of its first packet, and the name %s in it, is no TLS',
    async server => {
      const packet = [0, 0xff, 5, server.length, ...Buffer.from(server), 0x63, 0xdd, 2]
      // The packet's length equals the type of a TLS record.
      expect([20, 21, 22, 23]).toContain(packet.length)
      const first = Buffer.from([packet.length, ...packet])
      expect(await outcome(await byConnect(SITE), [first])).toBe('answered')
      expect(await outcome(await byConnect(SITE), bytesOf(first))).toBe('answered')
    }
  )

  test('SOCKS offers connections and datagrams (see udp.test.ts), and nothing else', async () => {
    expect((await socks(ip, agent.proxyPort, 'u', socksAddress('0.0.0.0'), 0, { command: 2 })).code).toBe(7)
  })
})

test('an address that is known as a denied site is refused where nothing tells that another is meant', async () => {
  const url = `http://127.0.0.1:${target.port}/`
  // A user who may visit the site teaches the agent its address.
  const visit = await tunnel(ownerIp, agent.proxyPort, 'owner', `www.denied.test:${target.port}`)
  expect(visit.status).toBe(200)
  expect((await proxied(ip, agent.proxyPort, 'u', url)).status).toBe(403)
  expect(await outcome(await byConnect(SITE), ['GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'])).toBe('reset')
  expect(await outcome(await byConnect(SITE), [Buffer.from([0, 0, 0, 9, 1])])).toBe('reset')
  expect(await outcome(await byConnect(SITE), ['NICK somebody\r\n'])).toBe('reset')
  expect(await outcome(await byConnect(SITE), [request('open.test')])).toBe('answered')
  expect(await outcome(await byConnect(SITE), ['\r\n\r\n', request('open.test')])).toBe('answered')
  expect(await outcome(await byConnect('open.test'), [Buffer.from([0, 0, 0, 9, 1])])).toBe('answered')
})

test('a plain request asks its target for no protocol that hides the names of the next ones', async () => {
  reached = []
  const client = new RawClient(ip, agent.proxyPort)
  const upgrade = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'
  client.send(
    `GET http://open.test:${target.port}/ HTTP/1.1\r\nHost: open.test:${target.port}\r\n${basic('u')}${upgrade}\r\n`
  )
  await until('the request', () => reached.join('').includes('\r\n\r\n'))
  expect(reached.join('')).not.toMatch(/upgrade|h2c|settings/i)
})

test('users without denied domains may say what they like, and the blacklist is judged for them too', async () => {
  const open = async (): Promise<RawClient> =>
    (await tunnel(ownerIp, agent.proxyPort, 'owner', `${SITE}:${target.port}`)).rawClient
  expect(await outcome(await open(), [await realHello('www.denied.test')])).toBe('answered')
  expect(await outcome(await open(), [hello([])])).toBe('answered')
  await agent.call('POST', '/api/add-blacklist', { domain: 'closed.test' })
  expect(await outcome(await open(), [await realHello('www.closed.test')])).toBe('reset')
  await agent.call('POST', '/api/del-blacklist', { domain: 'closed.test' })
})
