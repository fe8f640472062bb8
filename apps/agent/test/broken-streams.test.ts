import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { defaultLimits } from '../src/proxy/limits.ts'
import { basic, floodTarget, onEnd, tcpTarget, until } from './test-agent.ts'
import { NEVER, type TestPlane, testPlane } from './test-plane.ts'

let proxy: TestPlane
beforeAll(async () => {
  proxy = await testPlane({ limits: { sweepMs: NEVER } })
})

type Client = { socket: Socket; bytes: () => number; end: Promise<'whole' | 'reset'> }

/** A client that reports whether its connection ended or was reset. */
async function client(first: string, reads = true): Promise<Client> {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true })
  onEnd(() => socket.destroy())
  let bytes = 0
  if (reads) socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
  const end = new Promise<'whole' | 'reset'>(resolve => {
    socket.once('end', () => resolve('whole'))
    socket.on('error', () => resolve('reset'))
  })
  socket.write(first)
  await once(socket, 'connect')
  return { socket, bytes: () => bytes, end }
}

const connectTo = (host: string): string => `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}\r\n`
const getFrom = (host: string): string => `GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}\r\n`
const established = 'HTTP/1.1 200 Connection established\r\n\r\n'.length

/** A target that sends `says`. `go` runs `then` on each of its connections. */
async function target(says: string, then: (socket: Socket) => void): Promise<{ host: string; go: () => void }> {
  const { host, sockets } = await tcpTarget(socket => {
    // In a tunnel the target speaks first. An HTTP answer follows its request.
    if (says.startsWith('HTTP')) socket.once('data', () => socket.write(says))
    else socket.write(says)
  })
  return { host, go: () => sockets.forEach(then) }
}

describe.each<[string, (host: string) => string, string]>([
  ['a tunnel', connectTo, 'some'],
  ['an answer with a length', getFrom, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome'],
  ['an answer without one', getFrom, 'HTTP/1.1 200 OK\r\n\r\nsome']
])('a stream that breaks: %s', (_name, head, says) => {
  async function begun(then: (socket: Socket) => void): Promise<Client & { go: () => void }> {
    const { host, go } = await target(says, then)
    const one = await client(head(host))
    // The agent's reply to CONNECT comes first.
    const first = head === connectTo ? established : 0
    await until('what the target says', () => one.bytes() >= first + says.length)
    return { ...one, go }
  }

  test("ends with a reset after the target's", async () => {
    const { go, end } = await begun(socket => socket.resetAndDestroy())
    go()
    expect(await end).toBe('reset')
  })

  test('ends with a reset when the target says nothing more', async () => {
    const { end } = await begun(() => {})
    proxy.pass(defaultLimits.idleMs - 1000)
    expect(proxy.plane.open.size).toBeGreaterThan(0)
    proxy.pass(defaultLimits.idleMs + 1)
    expect(await end).toBe('reset')
  })

  test('ends with a reset when its user is taken away', async () => {
    const { end } = await begun(() => {})
    const record = proxy.plane.accessTable.lease('u')
    await proxy.plane.apply([{ op: 'user', user: 'u', record: null }])
    expect(await end).toBe('reset')
    expect(record).toBeDefined()
    const again = { password: 'secret', prefixes: ['127.0.0.1/32'], denySet: 'd', allowedClientIps: [] }
    await proxy.plane.apply([{ op: 'user', user: 'u', record: again }])
  })

  test('is whole only where the target ends it, and has said no length', async () => {
    const { go, end } = await begun(socket => socket.end())
    go()
    expect(await end).toBe(says.includes('Length') ? 'reset' : 'whole')
  })
})

test("a client's reset is the target's, so that half an upload is not taken for the whole", async () => {
  let seen = ''
  const sink = await tcpTarget(socket => {
    socket.once('data', () => socket.write('go on'))
    socket.on('end', () => (seen = 'whole')).on('error', () => (seen = 'reset'))
  })
  const one = await client(`${connectTo(sink.host)}half`)
  await until('the first bytes', () => one.bytes() > established)
  one.socket.resetAndDestroy()
  await until('the end at the target', () => seen !== '')
  expect(seen).toBe('reset')
})

test('a reset waits for the bytes that are on their way to a slow reader', async () => {
  const size = 6_000_000
  const broken = await tcpTarget(socket => {
    socket.write(Buffer.alloc(size), () => void setImmediate(() => socket.resetAndDestroy()))
  })
  const one = await client(connectTo(broken.host), false)
  let bytes = 0
  one.socket.on('readable', () => {
    for (let part = one.socket.read() as Buffer | null; part !== null; part = one.socket.read() as Buffer | null)
      bytes += part.length
  })
  expect(await one.end).toBe('reset')
  expect(bytes).toBeGreaterThan(established)
})

test('one that takes nothing of what comes for it is reset', async () => {
  const source = await floodTarget()
  const stuck = await client(connectTo(source.host), false)
  await until('bytes that do not leave', () => (proxy.accepted.at(-1)?.unsent ?? 0) > 0)
  await until('its end', () => {
    proxy.pass(defaultLimits.idleMs)
    return proxy.accepted.at(-1)?.destroyed
  })
  // The client notices the reset only when it reads.
  stuck.socket.resume()
  expect(await stuck.end).toBe('reset')
})

test("an upload after the target's end is refused with a reset and not counted", async () => {
  const closed = await tcpTarget(socket => {
    socket.once('data', () => socket.destroy())
  })
  const up = (): number => [...proxy.plane.collect()].reduce((sum, row) => sum + (row.user === 'u' ? row.up : 0), 0)
  up()
  const one = await client(connectTo(closed.host))
  await until('the tunnel', () => one.bytes() >= established)
  one.socket.write('x')
  expect(await one.end).toBe('whole')
  const broken = new Promise<void>(resolve => one.socket.once('error', () => resolve()))
  const piece = Buffer.alloc(100_000)
  const write = (): void => {
    if (!one.socket.destroyed) one.socket.write(piece, error => error ?? setImmediate(write))
  }
  write()
  await broken
  // Only the head and the few pieces that the kernel took before the target's reset are counted.
  expect(up()).toBeLessThan(5 * piece.length)
})
