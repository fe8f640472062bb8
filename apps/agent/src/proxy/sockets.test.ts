import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from 'vitest'
import { SourcePorts } from '../net/source-ports.ts'
import { handleSockets } from './handle-sockets.ts'
import type { RawSocket, RawSocketOwner } from './socket-types.ts'
import { streamSockets } from './stream-sockets.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const servers: Server[] = []
const plainSockets: Socket[] = []
const rawSockets: RawSocket[] = []

afterEach(() => {
  for (const socket of plainSockets.splice(0)) socket.destroy()
  for (const rawSocket of rawSockets.splice(0)) rawSocket.destroy()
  for (const server of servers.splice(0)) server.close()
})

async function listening(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** An owner that ignores all events but those given. */
const owner = (parts: Partial<RawSocketOwner>): RawSocketOwner => ({
  socketData: () => {},
  socketEnd: () => {},
  socketDrained: () => {},
  socketClosed: () => {},
  ...parts
})

describe.for([handleSockets, streamSockets])('sockets on $name', sockets => {
  async function connectTo(port: number, parts: Partial<RawSocketOwner>, from = '127.0.0.1'): Promise<RawSocket> {
    const code = Promise.withResolvers<string | null>()
    const rawSocket = sockets.connect('127.0.0.1', port, 4, from, code.resolve)
    rawSockets.push(rawSocket)
    expect(await code.promise).toBe(null)
    rawSocket.start(owner(parts))
    return rawSocket
  }

  /** A socket and the plain socket at its other end. */
  async function pair(parts: Partial<RawSocketOwner>): Promise<{ rawSocket: RawSocket; socket: Socket }> {
    const accepted = Promise.withResolvers<Socket>()
    const port = await listening(createServer({ allowHalfOpen: true }, accepted.resolve))
    const rawSocket = await connectTo(port, parts)
    const socket = await accepted.promise
    socket.on('error', () => {})
    plainSockets.push(socket)
    return { rawSocket, socket }
  }

  const closed = (socket: Socket): Promise<void> =>
    new Promise(resolve => (socket.closed ? resolve() : socket.once('close', () => resolve())))

  test('data without copies reaches a slow reader completely, and reading waits for it', async () => {
    const { rawSocket: out, socket: reader } = await pair({
      socketDrained: () => source.resume()
    })
    let most = 0
    const { rawSocket: source, socket: writer } = await pair({
      socketData: (rawSocket, chunk) => {
        out.write(chunk)
        most = Math.max(most, out.unsent)
        if (out.unsent > 0) rawSocket.pause()
      },
      socketEnd: () => out.end()
    })
    const sent = createHash('sha256')
    const size = 8 << 20
    for (let left = size; left > 0; left -= 1 << 20) {
      const block = randomBytes(1 << 20)
      sent.update(block)
      writer.write(block)
    }
    writer.end()
    const got = createHash('sha256')
    let count = 0
    for await (const chunk of reader as AsyncIterable<Buffer>) {
      got.update(chunk)
      count += chunk.length
      // Lets the pipe fill up.
      await new Promise(setImmediate)
    }
    expect(count).toBe(size)
    expect(got.digest('hex')).toBe(sent.digest('hex'))
    expect(source.bytesRead).toBe(size)
    expect(out.bytesWritten).toBe(size)
    expect(most).toBeLessThanOrEqual(262_144)
  })

  test('an accepted rawSocket copies what it reads, so chunks never change', async () => {
    const pieces: Buffer[] = []
    const ended = Promise.withResolvers<void>()
    const server = sockets.createServer(rawSocket => {
      rawSockets.push(rawSocket)
      rawSocket.start(owner({ socketData: (_, chunk) => pieces.push(chunk), socketEnd: () => ended.resolve() }))
    })
    const port = await listening(server)
    const sent = randomBytes(3 << 20)
    const socket = connect(port, '127.0.0.1')
    plainSockets.push(socket)
    socket.end(sent)
    await ended.promise
    expect(Buffer.concat(pieces).equals(sent)).toBe(true)
  })

  test('unsent bytes survive garbage collection after the caller has dropped them', async () => {
    const { rawSocket, socket } = await pair({})
    socket.pause()
    const size = 1 << 20
    for (let n = 0; n < 12; n++) rawSocket.write(Buffer.alloc(size, 97 + n))
    expect(rawSocket.unsent).toBeGreaterThan(size)
    await new Promise(setImmediate)
    gc()
    // Overwrites memory that was released.
    const others = Array.from({ length: 12 }, () => Buffer.alloc(size, 'z'))
    rawSocket.end()
    let [got, wrong] = [0, 0]
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      for (const byte of chunk) if (byte !== 97 + Math.floor(got++ / size)) wrong++
    }
    expect({ got, wrong, others: others.length }).toEqual({ got: 12 * size, wrong: 0, others: 12 })
  })

  test('an end goes out after everything written, and the other direction stays open', async () => {
    const answer: Buffer[] = []
    const answered = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    const { rawSocket, socket } = await pair({
      socketData: (_, chunk) => void answer.push(Buffer.from(chunk)),
      socketEnd: () => answered.resolve(),
      socketClosed: () => gone.resolve()
    })
    const message = randomBytes(8 << 20)
    rawSocket.write(message)
    rawSocket.end()
    rawSocket.write('too late')
    const got: Buffer[] = []
    for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) got.push(chunk)
    expect(Buffer.concat(got).equals(message)).toBe(true)
    socket.end('the answer')
    await answered.promise
    expect(Buffer.concat(answer).toString()).toBe('the answer')
    // Both sides ended, so the socket closes by itself.
    await gone.promise
    expect(rawSocket.destroyed).toBe(true)
  })

  test('closing when sent loses nothing, and a reset arrives as a reset', async () => {
    const first = await pair({})
    const message = randomBytes(8 << 20)
    first.rawSocket.write(message)
    expect(first.rawSocket.unsent).toBeGreaterThan(0)
    first.rawSocket.closeWhenSent()
    const got: Buffer[] = []
    first.socket.on('data', (chunk: Buffer) => got.push(chunk))
    await once(first.socket, 'end')
    expect(Buffer.concat(got).equals(message)).toBe(true)
    expect(first.rawSocket.destroyed).toBe(true)

    const second = await pair({})
    const error = new Promise<NodeJS.ErrnoException>(resolve => second.socket.once('error', resolve))
    second.socket.resume()
    second.rawSocket.reset()
    await closed(second.socket)
    expect((await error).code).toBe('ECONNRESET')
  })

  test('a broken connection closes the rawSocket once; a destroyed rawSocket reports nothing', async () => {
    let closings = 0
    const gone = Promise.withResolvers<void>()
    const { rawSocket, socket } = await pair({
      socketClosed: () => {
        closings++
        gone.resolve()
      }
    })
    socket.resetAndDestroy()
    await gone.promise
    expect(rawSocket.destroyed).toBe(true)
    rawSocket.write('nobody hears it')
    rawSocket.end()
    rawSocket.reset()
    rawSocket.destroy()

    let said = 0
    const other = await pair({ socketClosed: () => said++, socketEnd: () => said++ })
    other.rawSocket.destroy()
    other.socket.resume()
    other.socket.end()
    await closed(other.socket)
    await new Promise(setImmediate)
    expect({ closings, said }).toEqual({ closings: 1, said: 0 })
  })

  test('data that arrives before the start waits for the owner', async () => {
    const sent = Promise.withResolvers<void>()
    const port = await listening(
      createServer(socket => {
        plainSockets.push(socket)
        socket.write('first', () => sent.resolve())
      })
    )
    const connected = Promise.withResolvers<string | null>()
    const rawSocket = sockets.connect('127.0.0.1', port, 4, '127.0.0.1', connected.resolve)
    rawSockets.push(rawSocket)
    expect(await connected.promise).toBe(null)
    await sent.promise
    // Turns in which it could be read.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    const heard = Promise.withResolvers<string>()
    rawSocket.start(owner({ socketData: (_socket, chunk) => heard.resolve(chunk.toString()) }))
    expect(await heard.promise).toBe('first')
  })

  test('connecting reports the error code, and leaves from the requested address', async () => {
    const outcome = (port: number, from: string): Promise<string | null> => {
      const { promise, resolve } = Promise.withResolvers<string | null>()
      rawSockets.push(sockets.connect('127.0.0.1', port, 4, from, resolve))
      return promise
    }
    const spare = createServer()
    const free = await listening(spare)
    spare.close()
    await once(spare, 'close')
    expect(await outcome(free, '127.0.0.1')).toBe('ECONNREFUSED')
    expect(await outcome(free, '192.0.2.1')).toBe('EADDRNOTAVAIL')

    const accepted = Promise.withResolvers<Socket>()
    const port = await listening(createServer(accepted.resolve))
    const rawSocket = await connectTo(port, {}, '127.9.8.7')
    const socket = await accepted.promise
    plainSockets.push(socket)
    expect(socket.remoteAddress).toBe('127.9.8.7')
    expect(rawSocket.local).toMatchObject({ address: '127.9.8.7', port: socket.remotePort })
    expect(rawSocket.peer.port).toBe(port)
  })

  test('text is sent as latin1; a paused or held socket is not read until it is resumed or released', async () => {
    let heard = ''
    const { rawSocket, socket } = await pair({ socketData: (_, chunk) => (heard += chunk.toString('latin1')) })
    rawSocket.write('\xe9\xff')
    expect((await once(socket, 'data'))[0]).toEqual(Buffer.from([0xe9, 0xff]))
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    }
    rawSocket.pause()
    socket.write('a')
    await turns()
    expect(heard).toBe('')
    rawSocket.resume()
    await expect.poll(() => heard).toBe('a')
    rawSocket.hold()
    expect(rawSocket.held).toBe(true)
    // `hold` overrides the owner.
    rawSocket.resume()
    socket.write('b')
    await turns()
    expect(heard).toBe('a')
    rawSocket.release()
    await expect.poll(() => heard).toBe('ab')
    expect([rawSocket.held, rawSocket.bytesRead]).toEqual([false, 2])
  })

  test('a reset when sent follows everything written, and drained is reported once the kernel has everything', async () => {
    const drained = Promise.withResolvers<number>()
    const { rawSocket, socket } = await pair({ socketDrained: each => drained.resolve(each.unsent) })
    const error = new Promise<NodeJS.ErrnoException>(resolve => socket.once('error', resolve))
    rawSocket.write(Buffer.alloc(8 << 20))
    expect(rawSocket.unsent).toBeGreaterThan(0)
    socket.resume()
    expect(await drained.promise).toBe(0)
    rawSocket.write('the last')
    rawSocket.resetWhenSent()
    expect((await error).code).toBe('ECONNRESET')
    expect(rawSocket.destroyed).toBe(true)
  })

  test('connecting uses the given ports, also over IPv6, and a destroyed attempt reports nothing', async () => {
    const accepted: Socket[] = []
    const server = createServer(socket => void accepted.push(socket))
    servers.push(server)
    await once(server.listen(0, '::1'), 'listening')
    const { port } = server.address() as AddressInfo
    const code = Promise.withResolvers<string | null>()
    const range = { first: 20_000, last: 29_999 }
    const rawSocket = sockets.connect('::1', port, 6, '::1', code.resolve, new SourcePorts(range))
    rawSockets.push(rawSocket)
    expect(await code.promise).toBe(null)
    rawSocket.start(owner({}))
    expect(rawSocket.local.port).toBeGreaterThanOrEqual(range.first)
    expect(rawSocket.local.port).toBeLessThanOrEqual(range.last)
    expect(rawSocket.peer).toEqual({ address: '::1', port })
    let told = 0
    sockets.connect('::1', port, 6, '::1', () => told++).destroy()
    await expect.poll(() => accepted.length).toBeGreaterThan(0)
    for (const socket of accepted) plainSockets.push(socket)
    await new Promise(setImmediate)
    expect(told).toBe(0)
  })
})
