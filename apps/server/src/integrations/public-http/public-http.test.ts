import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTcp, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import {
  type PublicHttpPolicy,
  type PublicPost,
  forbiddenTarget,
  isPublicAddress,
  postToPublicAddress
} from './post.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const policy: PublicHttpPolicy = {
  allowHttp: true,
  allowedUrls: [],
  ownHosts: ['shop.example.com'],
  areOwn: async () => false
}
const post = (more: Partial<PublicPost> = {}): PublicPost => ({
  headers: { 'content-type': 'application/json' },
  body: '{"a":"ü"}',
  policy,
  timeoutMs: 5_000,
  ...more
})

/** A loopback address for a single test, so that well-known ports are free there. */
const loopback = (): string => `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`

async function listen(server: Server | ReturnType<typeof createTcp>, host = '127.0.0.1', port = 0): Promise<URL> {
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  closing.push(() => void server.close())
  if ('closeAllConnections' in server) closing.push(() => server.closeAllConnections())
  return new URL(`http://${host}:${(server.address() as AddressInfo).port}/hook?a=1`)
}

/** A server, with a policy that allows only its address. */
async function serve(listener: (...exchange: Parameters<RequestListener>) => void | Promise<void>) {
  const url = await listen(createServer((request, reply) => void listener(request, reply)))
  return { url, allowing: { policy: { ...policy, allowedUrls: [`${url.origin}/`] } } }
}

/** Sends raw bytes to every client that connects. */
async function speak(words: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createTcp(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => words(socket))
  })
  const url = await listen(server)
  closing.push(() => sockets.forEach(socket => socket.destroy()))
  return { url, allowing: { policy: { ...policy, allowedUrls: [`${url.origin}/`] } } }
}

const NOT_PUBLIC =
  '0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.10.0.9 169.254.169.254 172.16.0.1 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8 ::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 fe80::1 fe80::1%lo fec0::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2001::1 2002:7f00:1:: 3fff::1 100::1 4000::1 a.b'
test.each(['', ...NOT_PUBLIC.split(' ')])('%s is no public address', address => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001::1'])('%s is a public address', address => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  ['http://example.com/', 'not_https'],
  ['https://example.com:25/', 'port'],
  ['https://example.com:6379/', 'port'],
  ['https://example.com:80/', 'port'],
  ['https://example.com:8080/', 'port'],
  ['https://127.0.0.1/', 'not_public'],
  ['https://2130706433/', 'not_public'],
  ['https://0x7f.1/', 'not_public'],
  ['https://0177.0.0.1/', 'not_public'],
  ['https://[::1]/', 'not_public'],
  ['https://[::ffff:7f00:1]/', 'not_public'],
  ['https://localhost/', 'not_public'],
  ['https://a.LOCALHOST./', 'not_public'],
  ['https://169.254.169.254/latest/meta-data/', 'not_public'],
  ['https://SHOP.example.com./', 'own_address'],
  ['https://example.com/', null],
  ['https://example.com:8443/', null],
  ['https://8.8.8.8/', null]
])('%s: %s', (text, expected) => {
  expect(forbiddenTarget(new URL(text), { ...policy, allowHttp: false })).toBe(expected)
})

test('the post arrives, and the start of the answer is kept', async () => {
  let got: { url: string | undefined; body: string; headers: NodeJS.Dict<string | string[]> } | undefined
  const { url, allowing } = await serve(async (request, reply) => {
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    got = { url: request.url, body: Buffer.concat(parts).toString(), headers: request.headers }
    reply.writeHead(429, { 'retry-after': '7' }).end('x'.repeat(5000))
  })
  const reply = await postToPublicAddress(url, post(allowing))
  expect(reply).toMatchObject({ ok: true, status: 429, retryAfter: '7', answer: 'x'.repeat(1000) })
  expect(got).toMatchObject({ url: '/hook?a=1', body: '{"a":"ü"}' })
  expect(got?.headers).toMatchObject({ host: url.host, 'content-length': '10', connection: 'close' })
})

test('the connection goes to the checked address, even if DNS changes a moment later', async () => {
  const [checked, other] = [loopback(), loopback()]
  const hits: string[] = []
  const answering = (name: string) =>
    createServer((_request, reply) => {
      hits.push(name)
      reply.end('ok')
    })
  await listen(answering('checked'), checked, 8080)
  await listen(answering('other'), other, 8080)
  const answers = [[checked], [other]]
  const asked: string[] = []
  const rebinding = {
    resolve: async (host: string) => (asked.push(host), answers.shift() ?? [other]),
    // Stands for a public address, because this machine has none.
    forbids: (address: string) => (address === checked ? null : ('not_public' as const))
  }
  const url = new URL('http://rebind.example:8080/')
  await expect(postToPublicAddress(url, post(rebinding))).resolves.toMatchObject({ ok: true, status: 200 })
  // Resolved once, so no second DNS answer can be used.
  expect(asked).toEqual(['rebind.example'])
  expect(hits).toEqual(['checked'])
  // The next post checks again, and does not connect.
  await expect(postToPublicAddress(url, post(rebinding))).resolves.toMatchObject({ ok: false, failure: 'not_public' })
  expect(hits).toEqual(['checked'])
})

test.each([
  ['one of several addresses that is not public', ['8.8.8.8', '10.0.0.1'], 'not_public'],
  ['an address of a NAT64 prefix', ['64:ff9b::a00:1'], 'not_public'],
  ['a name without addresses', [], 'unresolved'],
  ['an answer that is no address', ['localhost'], 'unresolved'],
  ["the shop's own address", ['8.8.8.8'], 'own_address']
])('nothing is sent to %s', async (_what, addresses, failure) => {
  const own = { policy: { ...policy, areOwn: async () => true } }
  const reply = await postToPublicAddress(
    new URL('http://a.example/'),
    post({ ...own, resolve: async () => addresses })
  )
  expect(reply).toMatchObject({ ok: false, failure })
})

test('a silent name server takes no longer than the timeout of the exchange', async () => {
  const silent = { resolve: () => new Promise<string[]>(() => {}), timeoutMs: 50 }
  await expect(postToPublicAddress(new URL('http://a.example/'), post(silent))).resolves.toMatchObject({
    ok: false,
    failure: 'timeout',
    detail: 'DNS'
  })
})

test('a redirect is an answer, and is not followed', async () => {
  let followed = 0
  const target = await serve((_request, reply) => {
    followed++
    reply.end()
  })
  const { url, allowing } = await serve((_request, reply) => {
    reply.writeHead(307, { location: target.url.href }).end()
  })
  await expect(postToPublicAddress(url, post(allowing))).resolves.toMatchObject({ ok: true, status: 307 })
  expect(followed).toBe(0)
})

test('silence ends at the timeout, before and within the answer', async () => {
  const silent = await speak(() => {})
  await expect(postToPublicAddress(silent.url, post({ ...silent.allowing, timeoutMs: 80 }))).resolves.toMatchObject({
    ok: false,
    failure: 'timeout'
  })
  const dripping = await speak(socket => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'))
  await expect(
    postToPublicAddress(dripping.url, post({ ...dripping.allowing, timeoutMs: 1500 }))
  ).resolves.toMatchObject({
    ok: false,
    failure: 'timeout',
    status: 200
  })
})

test('half a body is a failure, with the status of its headers', async () => {
  const { url, allowing } = await speak(socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))
  await expect(postToPublicAddress(url, post(allowing))).resolves.toMatchObject({
    ok: false,
    failure: 'cut_off',
    status: 200
  })
})

test('an endless answer is read no further than needed', async () => {
  const { url, allowing } = await speak(socket => {
    const block = Buffer.alloc(32 * 1024, 'a')
    const write = () => void (socket.writable && socket.write(block, write))
    socket.write('HTTP/1.1 200 OK\r\n\r\n', write)
  })
  await expect(postToPublicAddress(url, post(allowing))).resolves.toMatchObject({
    ok: true,
    status: 200,
    answer: 'a'.repeat(1000)
  })
})

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.0\r\n'],
  ['an answer without words', ''],
  ['headers without an end', `HTTP/1.1 200 OK\r\na: ${'b'.repeat(20_000)}\r\n\r\n`]
])('%s is a failure', async (_what, words) => {
  const { url, allowing } = await speak(socket => socket.end(words))
  await expect(postToPublicAddress(url, post(allowing))).resolves.toMatchObject({ ok: false, failure: 'network' })
})

test('a port that is closed, or that does not speak TLS, is a failure', async () => {
  const { url, allowing } = await speak(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const secure = new URL(url.href.replace('http:', 'https:'))
  const toSecure = { policy: { ...policy, allowedUrls: [`${secure.origin}/`] } }
  await expect(postToPublicAddress(secure, post(toSecure))).resolves.toMatchObject({ ok: false, failure: 'tls' })
  for (const close of closing.splice(0)) close()
  await expect.poll(async () => (await postToPublicAddress(url, post(allowing))).ok).toBe(false)
})
