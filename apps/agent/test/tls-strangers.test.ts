import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { SecureContext, TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { helloState, readClientHello } from '../src/proxy/client-hello.ts'
import { defaultHandshakeCaps, Handshakes } from '../src/proxy/handshakes.ts'
import type { Resolve } from '../src/net/resolver.ts'
import type { Limits } from '../src/proxy/limits.ts'
import { encryptedHello, hello, realHello, serverName } from './names.ts'
import { basic, httpTarget, RawClient, tcpTarget, tlsClient, until } from './test-agent.ts'
import { newSecureContext } from './certificates.ts'
import { loggedIn } from './tls-records.ts'
import { type TestPlane, testPlane } from './test-plane.ts'

let secureContext: SecureContext

beforeAll(async () => {
  secureContext = await newSecureContext()
})

async function tlsPlane(limits: Partial<Limits> = {}, resolve?: Resolve): Promise<TestPlane> {
  const plane = await testPlane({ limits: { headMs: 60_000, ...limits }, ...(resolve && { resolve }) })
  plane.plane.secureContext = secureContext
  return plane
}

/** A TLS connection; null if the agent ends it during the handshake. */
const dial = (port: number, from?: string): Promise<TLSSocket | null> =>
  tlsClient(port, from === undefined ? {} : { from }).catch(() => null)

/** How many of `count` consecutive handshakes the agent answers. The client drops each at once. */
async function answered(port: number, count: number, from?: string): Promise<number> {
  let done = 0
  for (let n = 0; n < count; n++) {
    const socket = await dial(port, from)
    if (socket !== null) done++
    socket?.destroy()
  }
  return done
}

async function statusInside(socket: TLSSocket, host: string): Promise<string> {
  socket.write(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}Connection: close\r\n\r\n`)
  return String((await once(socket, 'data'))[0]).slice(9, 12)
}

describe('before the login, clients that speak TLS', () => {
  test('cost nothing until their first message is whole, in however many pieces it comes', async () => {
    const { plane, port, lines } = await tlsPlane()
    const silent = Array.from({ length: 20 }, () => new RawClient('127.0.0.1', port).send(Buffer.from([22])))
    await until('the first bytes', () => plane.handshakes.size === 20)
    // The agent answers nothing, and has created no TLS state that could.
    const first = await realHello('proxy.test')
    const pieces = new RawClient('127.0.0.1', port)
    pieces.socket.setNoDelay(true)
    for (let at = 0; at < first.length - 1; at += 50) {
      pieces.send(first.subarray(at, Math.min(at + 50, first.length - 1)))
      await new Promise(setImmediate)
    }
    await until('the pieces', () => plane.handshakes.size === 21)
    expect([pieces.received.length, ...silent.map(({ received }) => received.length)].every(size => size === 0)).toBe(
      true
    )
    pieces.send(first.subarray(first.length - 1))
    await until('the answer', () => pieces.received.length > 0)
    expect(pieces.received[0]).toBe(22)
    // The agent does not wait for more of a malformed or an endless hello.
    const odd = new RawClient('127.0.0.1', port).send(Buffer.from([22, 3, 1, 0, 5, 2, 0, 0, 1, 0]))
    const endless = Buffer.concat([Buffer.from([22, 3, 1, 64, 0, 1, 0, 255, 255]), Buffer.alloc(16_390)])
    const long = new RawClient('127.0.0.1', port).send(Buffer.concat([endless, endless]))
    await Promise.all([odd.over(), long.over()])
    await until('the log', () => lines.filter(line => line.includes('tls-failed')).length === 2)
  })

  test('have so many handshakes a second, and those that log in do not count', async () => {
    const { plane, port, lines } = await tlsPlane({ newHandshakesPerClient: 5 })
    const target = await httpTarget()
    for (let n = 0; n < 30; n++) {
      const socket = await dial(port)
      expect(socket).not.toBeNull()
      if (socket !== null) expect(await statusInside(socket, target.host)).toBe('200')
    }
    const began = performance.now()
    const done = await answered(port, 60, '127.203.0.1')
    // Ten at once, and five more each second.
    expect(done).toBeLessThanOrEqual(11 + ((performance.now() - began) / 1000) * 5)
    expect(lines.join('\n')).toMatch(/127\.203\.0\.1 - \S+ TLS - 429 0 0 0 tls-too-fast/)
    const nobody = [...plane.collect()].find(({ user }) => user === '-')
    expect(nobody?.codes).toMatchObject({ 'tls-too-fast': 60 - done })
    expect(await answered(port, 1, '127.203.0.2')).toBe(1)
  })

  test('of all clients together leave room for those that have logged in before', async () => {
    const { port } = await tlsPlane({ newHandshakes: 20 })
    const target = await httpTarget()
    const known = await dial(port)
    if (known !== null) expect(await statusInside(known, target.host)).toBe('200')
    let strangers = 0
    const began = performance.now()
    for (let n = 0; n < 40; n++) strangers += await answered(port, 1, `127.204.0.${n + 1}`)
    expect(strangers).toBeLessThanOrEqual(11 + ((performance.now() - began) / 1000) * 20)
    expect(await answered(port, 5)).toBe(5)
  })

  test('of one customer who logs in often do not take those of another', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const handshakes = new Handshakes({ ...defaultHandshakeCaps, newHandshakes: 20, newHandshakesPerClient: 3 })
    const come = (client: string): boolean => {
      if (!handshakes.allows(client)) return false
      const connection = { clientText: client, destroy: () => {} }
      handshakes.begin(connection)
      handshakes.ended(connection, 'logged-in')
      return true
    }
    const seen = { served: 0, refused: 0, greedy: 0 }
    // One customer logs in at ten times the allowed rate, while another logs in every 400 ms.
    for (let ms = 0; ms < 1600; ms += 5) {
      vi.advanceTimersByTime(5)
      if (come('127.206.0.1')) seen.greedy++
      if (ms % 400 === 0) seen[come('127.206.0.2') ? 'served' : 'refused']++
    }
    expect(seen).toMatchObject({ served: 4, refused: 0 })
    // The greedy customer gets nearly all of the rest.
    expect(seen.greedy).toBeGreaterThan(10)
  })

  test('are so many at a time, of one client and in all: the oldest makes room', async () => {
    const { plane, port } = await tlsPlane({ handshakes: 6, handshakesPerClient: 4 })
    const begin = (from: string): RawClient => new RawClient('127.0.0.1', port, from).send(Buffer.from([22]))
    const other = begin('127.205.0.2')
    await until('the first', () => plane.handshakes.size === 1)
    const mine: RawClient[] = []
    for (let n = 0; n < 6; n++) {
      mine.push(begin('127.205.0.1'))
      await until('it', () => plane.figures.accepted === n + 2 && mine.length === n + 1)
    }
    await until('the first two to be gone', () => mine.slice(0, 2).every(each => each.closed || each.ended))
    expect([other, ...mine.slice(2)].filter(each => each.closed)).toEqual([])
    begin('127.205.0.3')
    await until('six', () => plane.handshakes.size === 6)
    begin('127.205.0.4')
    await until('the oldest of all to be gone', () => other.closed || other.ended)
    plane.close()
    expect(plane.handshakes.size).toBe(0)
  })
})

test('a hello in thousands of records is no work', () => {
  const many = hello([serverName('a.test'), encryptedHello(), encryptedHello()], 1)
  expect(helloState(many)).toBe('malformed')
  expect(readClientHello(many).kind).toBe('malformed')
  const some = hello([serverName('a.test')], 9)
  expect(helloState(some)).toBe('whole')
  expect(readClientHello(some)).toEqual({ kind: 'hello', name: 'a.test', encrypted: false, length: some.length })
  for (let at = 0; at < some.length; at++) expect(helloState(some.subarray(0, at))).toBe('more')
})

/** Writes each byte in its own record until the connection ends. */
async function writeEach(socket: TLSSocket, text: string): Promise<void> {
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  for (const byte of text) {
    if (socket.destroyed) return
    await Promise.race([closed, new Promise<void>(resolve => socket.write(byte, () => resolve()))])
  }
}

test('a stranger whose records carry next to nothing is cut off, and a customer’s all arrive', async () => {
  const { port } = await tlsPlane()
  const stranger = await dial(port)
  if (stranger === null) throw new Error('no handshake')
  await writeEach(stranger, 'x'.repeat(3000))
  await until('the stranger to be closed', () => stranger.destroyed)

  const target = await httpTarget()
  const customer = await dial(port)
  if (customer === null) throw new Error('no handshake')
  const body = Array.from({ length: 5000 }, (_, n) => String(n % 10)).join('')
  const head = `POST http://${target.host}/echo HTTP/1.1\r\nHost: x\r\n${basic('u')}Connection: close\r\n`
  customer.write(`${head}Content-Length: ${body.length}\r\n\r\n`)
  let answer = ''
  customer.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await writeEach(customer, body)
  await until('the answer', () => customer.destroyed)
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  expect(answer).toContain(body)
})

describe('a customer inside TLS', () => {
  test('has its bytes in their sequence where more comes than is read while the target is dialled, in records of any size', async () => {
    let answerName: (() => void) | undefined
    const { port, accepted } = await tlsPlane({}, (_name, _family, answer) => {
      answerName = () => answer({ ok: true, addresses: ['127.0.0.1'] })
    })
    const sums = new Array<Promise<string>>()
    const target = await tcpTarget(socket => {
      const sum = createHash('sha256')
      sums.push(
        new Promise(done => {
          socket.on('data', (chunk: Buffer) => void sum.update(chunk))
          socket.on('end', () => {
            done(sum.digest('hex'))
            socket.end()
          })
        })
      )
    })
    for (const [done, size] of [200, 3000, 60_000].entries()) {
      const socket = await dial(port)
      if (socket === null) throw new Error('no handshake')
      const sent = randomBytes(400_000)
      socket.write(`CONNECT slow.test:${target.port} HTTP/1.1\r\nHost: a\r\n${basic('u')}\r\n`)
      for (let at = 0; at < sent.length; at += size) socket.write(sent.subarray(at, at + size))
      socket.end()
      await until('more than is read before', () => answerName && (accepted.at(-1)?.bytesRead ?? 0) > 65_536)
      answerName?.()
      answerName = undefined
      socket.resume()
      await until('the target', () => sums.length > done)
      expect(await sums.at(-1)).toBe(createHash('sha256').update(sent).digest('hex'))
    }
  })

  const open = async (port: number): ReturnType<typeof loggedIn> => {
    const target = await tcpTarget(socket => void socket.pipe(socket))
    return loggedIn(port, `CONNECT ${target.host} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`)
  }

  test('waits in the queue of its user after the login, not in that of its client address', async () => {
    const { port, plane } = await tlsPlane()
    const isOver = vi.spyOn(plane.turns, 'isOver')
    const { raw, records } = await open(port)
    expect([...new Set(isOver.mock.calls.flat())].map(owner => typeof owner)).toEqual(['object'])
    raw.write(records.keyUpdate())
    await expect.poll(() => isOver.mock.lastCall).toEqual(['u'])
  })

  test('that reads nothing is cut off by records that only call for answers, and not by small ones with something in them', async () => {
    const { port, accepted } = await tlsPlane()
    let received = 0
    const target = await tcpTarget(socket => {
      socket.write(Buffer.alloc(20_000_000))
      socket.on('data', (chunk: Buffer) => (received += chunk.length))
    })
    const head = `CONNECT ${target.host} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
    const { socket, raw, records } = await loggedIn(port, head)
    const connection = accepted.at(-1)
    socket.pause()
    await until('nothing to be taken any more', () => (connection?.unsent ?? 0) > 0)
    // Small records have an allowance. Their content does not pay for records without any.
    for (let n = 0; n < 50; n++) raw.write(records.data(Buffer.alloc(10_000)))
    for (let n = 0; n < 1000; n++) raw.write(records.data(Buffer.from([n & 255])))
    for (let n = 0; n < 200; n++) raw.write(records.keyUpdate(true))
    raw.write(records.data(Buffer.from('x')))
    await until('all of it', () => received === 501_001)
    expect(connection?.destroyed).toBe(false)
    for (let n = 0; n < 6000; n++) {
      raw.write(records.keyUpdate(true))
      if (n % 10 === 0) raw.write(records.data(Buffer.from('x')))
      if (n % 100 === 0) raw.write(records.data(Buffer.alloc(10_000)))
    }
    await until('its end', () => connection?.destroyed === true)
  })

  test('that reads may ask for new keys as often as it likes', async () => {
    const { port } = await tlsPlane()
    const { raw, records, socket } = await open(port)
    for (let n = 0; n < 5000; n++) {
      raw.write(records.keyUpdate(true))
      if (n % 100 === 99) await new Promise<void>(resolve => raw.write(records.data(Buffer.from('x')), () => resolve()))
    }
    let echoed = 0
    socket.on('data', (chunk: Buffer) => (echoed += chunk.length))
    await until('the echo', () => echoed === 50)
  })

  test('has all of its bytes where neither it nor its target reads for a while', async () => {
    const { port, accepted } = await tlsPlane()
    let received = 0
    const target = await tcpTarget(socket => {
      socket.write(Buffer.alloc(20_000_000))
      socket.on('data', (chunk: Buffer) => (received += chunk.length))
      socket.pause()
    })
    const head = `CONNECT ${target.host} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
    const { socket, raw, records } = await loggedIn(port, head)
    const connection = accepted.at(-1)
    socket.pause()
    await until('nothing to be taken any more', () => (connection?.unsent ?? 0) > 0)
    for (let n = 0; n < 400; n++) raw.write(records.data(Buffer.alloc(n % 2 === 0 ? 12_000 : 10)))
    await until('nothing to be taken here either', async () => {
      const before = connection?.bytesRead ?? 0
      await new Promise(resolve => setTimeout(resolve, 100))
      return before > 100_000 && before === connection?.bytesRead
    })
    for (const each of target.sockets) each.resume()
    await until('all of it', () => received === 2_402_000)
    expect(connection?.destroyed).toBe(false)
  })
})
