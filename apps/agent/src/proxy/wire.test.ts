import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Wire, type WireOwner } from './wire.ts'

const servers: Server[] = []
const sockets: Socket[] = []
const wires: Wire[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const wire of wires.splice(0)) wire.destroy()
  for (const server of servers.splice(0)) server.close()
})

async function listening(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** An owner that does nothing beside what a test gives. */
const owner = (parts: Partial<WireOwner>): WireOwner => ({
  wireData: () => {},
  wireEnd: () => {},
  wireDrained: () => {},
  wireClosed: () => {},
  ...parts
})

async function wireTo(port: number, parts: Partial<WireOwner>, from = '127.0.0.1'): Promise<Wire> {
  const code = Promise.withResolvers<string | null>()
  const wire = Wire.connect('127.0.0.1', port, 4, from, code.resolve)
  wires.push(wire)
  expect(await code.promise).toBe(null)
  wire.start(owner(parts))
  return wire
}

/** A wire and the plain socket at its other end. */
async function pair(parts: Partial<WireOwner>): Promise<{ wire: Wire; socket: Socket }> {
  const accepted = Promise.withResolvers<Socket>()
  const port = await listening(createServer({ allowHalfOpen: true }, accepted.resolve))
  const wire = await wireTo(port, parts)
  const socket = await accepted.promise
  socket.on('error', () => {})
  sockets.push(socket)
  return { wire, socket }
}

const closed = (socket: Socket): Promise<void> =>
  new Promise(resolve => (socket.closed ? resolve() : socket.once('close', () => resolve())))

test('what is lent and sent on to a slow reader arrives whole, and reading waits for it', async () => {
  const { wire: out, socket: reader } = await pair({
    wireDrained: () => source.resume()
  })
  let most = 0
  const { wire: source, socket: writer } = await pair({
    wireData: (wire, chunk) => {
      out.write(chunk)
      most = Math.max(most, out.unsent)
      if (out.unsent > 0) wire.pause()
    },
    wireEnd: () => out.end()
  })
  const sent = createHash('sha256')
  const size = 24 << 20
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
    // Time for the pipe to fill up behind.
    await new Promise(setImmediate)
  }
  expect(count).toBe(size)
  expect(got.digest('hex')).toBe(sent.digest('hex'))
  expect(source.bytesRead).toBe(size)
  expect(out.bytesWritten).toBe(size)
  expect(most).toBeLessThanOrEqual(262_144)
})

test('an accepted wire copies what it reads: pieces stay what they were', async () => {
  const pieces: Buffer[] = []
  const ended = Promise.withResolvers<void>()
  const server = createServer()
  const port = await listening(server)
  Wire.accept(server, wire => {
    wires.push(wire)
    wire.start(owner({ wireData: (_, chunk) => pieces.push(chunk), wireEnd: () => ended.resolve() }))
  })
  const sent = randomBytes(3 << 20)
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.end(sent)
  await ended.promise
  expect(Buffer.concat(pieces).equals(sent)).toBe(true)
})

test('an end goes out behind everything written, and the other direction stays open', async () => {
  const answer: Buffer[] = []
  const answered = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const { wire, socket } = await pair({
    wireData: (_, chunk) => void answer.push(Buffer.from(chunk)),
    wireEnd: () => answered.resolve(),
    wireClosed: () => gone.resolve()
  })
  const message = randomBytes(8 << 20)
  wire.write(message)
  wire.end()
  wire.write('too late')
  const got: Buffer[] = []
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) got.push(chunk)
  expect(Buffer.concat(got).equals(message)).toBe(true)
  socket.end('the answer')
  await answered.promise
  expect(Buffer.concat(answer).toString()).toBe('the answer')
  // Both sides ended: the wire closes by itself.
  await gone.promise
  expect(wire.destroyed).toBe(true)
})

test('closing when sent loses nothing, a reset is seen as one', async () => {
  const first = await pair({})
  const message = randomBytes(8 << 20)
  first.wire.write(message)
  expect(first.wire.unsent).toBeGreaterThan(0)
  first.wire.closeWhenSent()
  const got: Buffer[] = []
  first.socket.on('data', (chunk: Buffer) => got.push(chunk))
  await once(first.socket, 'end')
  expect(Buffer.concat(got).equals(message)).toBe(true)
  expect(first.wire.destroyed).toBe(true)

  const second = await pair({})
  const error = new Promise<NodeJS.ErrnoException>(resolve => second.socket.once('error', resolve))
  second.socket.resume()
  second.wire.reset()
  await closed(second.socket)
  expect((await error).code).toBe('ECONNRESET')
})

test('a broken connection closes the wire once, a destroyed wire says nothing', async () => {
  let closings = 0
  const gone = Promise.withResolvers<void>()
  const { wire, socket } = await pair({
    wireClosed: () => {
      closings++
      gone.resolve()
    }
  })
  socket.resetAndDestroy()
  await gone.promise
  expect(wire.destroyed).toBe(true)
  wire.write('nobody hears it')
  wire.end()
  wire.reset()
  wire.destroy()

  let said = 0
  const other = await pair({ wireClosed: () => said++, wireEnd: () => said++ })
  other.wire.destroy()
  other.socket.resume()
  other.socket.end()
  await closed(other.socket)
  await new Promise(setImmediate)
  expect({ closings, said }).toEqual({ closings: 1, said: 0 })
})

test('connecting tells the code of what went wrong, and leaves from the address that was asked for', async () => {
  const outcome = (port: number, from: string): Promise<string | null> => {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    wires.push(Wire.connect('127.0.0.1', port, 4, from, resolve))
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
  const wire = await wireTo(port, {}, '127.9.8.7')
  const socket = await accepted.promise
  sockets.push(socket)
  expect(socket.remoteAddress).toBe('127.9.8.7')
  expect(wire.local).toEqual({ address: '127.9.8.7', port: socket.remotePort, family: 'IPv4' })
  expect(wire.peer.port).toBe(port)
})
