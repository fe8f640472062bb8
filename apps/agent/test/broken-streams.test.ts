import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { basic, type Json, lease, onEnd, tcpTarget, testAgent, type TestAgent, until } from './test-agent.ts'

let agent: TestAgent
let ip: string
beforeAll(async () => {
  agent = await testAgent({ limits: { idleMs: 1500, halfClosedMs: 1500, sweepMs: 20 } })
  ip = `${agent.net}.1.1`
  await lease(agent.call, 'u', [`${ip}/32`])
})

type Client = { socket: Socket; bytes: () => number; end: Promise<'whole' | 'reset'> }

/** A client that tells how its connection ended: with an end, or broken. */
async function client(first: string, reads = true): Promise<Client> {
  const socket = connect({ host: ip, port: agent.proxyPort, allowHalfOpen: true })
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
/** How each way begins, and what a target says first, without and with a length. */
const ways: Array<[string, (host: string) => string, string]> = [
  ['a tunnel', connectTo, 'some'],
  ['an answer with a length', getFrom, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome'],
  ['an answer without one', getFrom, 'HTTP/1.1 200 OK\r\n\r\nsome']
]

/** A target that says something and then does as told. */
const target = (says: string, then: (socket: Socket) => void): ReturnType<typeof tcpTarget> =>
  tcpTarget(socket => {
    const begin = (): void => {
      socket.write(says, () => then(socket))
    }
    // A tunnel's target speaks first; a request has to come before an answer.
    if (says.startsWith('HTTP')) socket.once('data', begin)
    else begin()
  })

describe.each(ways)('a stream that breaks: %s', (_name, head, says) => {
  test("ends with a reset after the target's", async () => {
    const broken = await target(says, socket => void setTimeout(() => socket.resetAndDestroy(), 50))
    expect(await (await client(head(broken.host))).end).toBe('reset')
  })

  test('ends with a reset when the target says nothing more', async () => {
    const silent = await target(says, () => {})
    expect(await (await client(head(silent.host))).end).toBe('reset')
  })

  test('ends with a reset when its user is taken away', async () => {
    const steady = await target(says, socket => {
      const timer = setInterval(() => socket.write('.'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    await lease(agent.call, 'gone', [`${agent.net}.1.2/32`])
    const socket = connect({ host: `${agent.net}.1.2`, port: agent.proxyPort })
    onEnd(() => socket.destroy())
    socket.write(head(steady.host).replace(basic('u'), basic('gone')))
    await once(socket, 'data')
    const broken = once(socket, 'error')
    await agent.call('DELETE', '/api/users/gone')
    expect(String((await broken)[0])).toMatch(/ECONNRESET/)
  })

  test('is whole when the target ends it', async () => {
    if (says.includes('Length')) return
    const whole = await target(says, socket => socket.end())
    expect(await (await client(head(whole.host))).end).toBe('whole')
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
    socket.write(Buffer.alloc(size), () => void setTimeout(() => socket.resetAndDestroy(), 100))
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

test('a steady slow reader is not idle, one that takes nothing is', async () => {
  const size = 12_000_000
  const source = await tcpTarget(socket => void socket.end(Buffer.alloc(size)))
  const slow = await client(connectTo(source.host), false)
  let taken = 0
  // As slow as the kernel's buffers allow nothing to move on our side for longer than the patience.
  const reading = (async () => {
    while (!slow.socket.readableEnded && !slow.socket.destroyed) {
      const part = slow.socket.read(Math.min(30_000, slow.socket.readableLength)) as Buffer | null
      taken += part?.length ?? 0
      if (taken > 5_000_000) break
      await new Promise(resolve => setTimeout(resolve, 30))
    }
    // Long enough: the rest at once.
    slow.socket.on('data', (chunk: Buffer) => (taken += chunk.length)).resume()
  })()
  const stuck = await client(connectTo(source.host), false)
  stuck.socket.pause()
  expect(await slow.end).toBe('whole')
  await reading
  expect(taken).toBe(size + established)
  // It can only learn of it when it reads.
  stuck.socket.resume()
  expect(await stuck.end).toBe('reset')
}, 60_000)

test("an upload after the target's end is refused with a reset and not counted", async () => {
  const closed = await tcpTarget(socket => {
    socket.once('data', () => socket.destroy())
  })
  const upOf = async (): Promise<number> => {
    const { json } = await agent.call('GET', '/api/traffic')
    const rows = json['rows'] as Json[]
    return rows.filter(row => row['user'] === 'u').reduce((sum, row) => sum + Number(row['up']), 0)
  }
  const before = await upOf()
  const one = await client(connectTo(closed.host))
  await until('the tunnel', () => one.bytes() >= established)
  one.socket.write('x')
  expect(await one.end).toBe('whole')
  const broken = new Promise(resolve => one.socket.once('error', resolve))
  const piece = Buffer.alloc(100_000)
  const timer = setInterval(() => one.socket.write(piece), 5)
  onEnd(() => clearInterval(timer))
  await broken
  clearInterval(timer)
  // The head, and at most the piece that was on its way when the target's own reset came.
  expect((await upOf()) - before).toBeLessThan(2 * piece.length)
  expect(one.socket.bytesWritten).toBeGreaterThan(0)
})
