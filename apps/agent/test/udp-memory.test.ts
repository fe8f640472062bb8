import { Socket } from 'node:dgram'
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { associate, datagram, onEnd, udpSocket, udpTo, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

/** The same bound as for TCP connections. */
const BOUND = 400_000
const DATA = Buffer.alloc(60_000, 'a')

test('what an association can hold is bounded, where the network takes nothing and names are not found', async () => {
  const target = await udpSocket('127.0.0.1', 4 << 20)
  const client = await udpSocket('127.0.0.1', 4 << 20)
  const { plane, port } = await testPlane({
    resolve: (name, _family, done) => {
      if (name === 'fast.test') done({ ok: true, addresses: ['127.0.0.1'] })
    }
  })
  const { relay } = await associate('127.0.0.1', port)
  const at = target.address().port
  const to = (name: string, data: Buffer): Buffer => datagram(udpTo.name(name, at), data)
  const send = (from: Socket, data: Buffer, toPort: number): Promise<unknown> =>
    new Promise(resolve => from.send(data, toPort, '127.0.0.1', resolve))
  const came = once(target, 'message')
  await send(client, to('fast.test', Buffer.from('x')), relay)
  const [, from] = (await came) as [Buffer, { port: number }]

  // From here on, what the association's own sockets send stays in their queues.
  const waiting = new Map<Socket, number>()
  const isOwn = (socket: Socket): boolean => socket !== target && socket !== client
  const real = Reflect.get(Socket.prototype, 'send') as (this: Socket, ...args: unknown[]) => void
  vi.spyOn(Socket.prototype, 'send').mockImplementation(function (this: Socket, ...args: unknown[]) {
    if (!isOwn(this)) return real.apply(this, args)
    const data = args[0] as Buffer | Buffer[]
    const size = Array.isArray(data) ? data.reduce((sum, { length }) => sum + length, 0) : data.length
    waiting.set(this, (waiting.get(this) ?? 0) + size)
  })
  vi.spyOn(Socket.prototype, 'getSendQueueSize').mockImplementation(function (this: Socket) {
    return waiting.get(this) ?? 0
  })
  onEnd(() => vi.restoreAllMocks())

  // Both directions and the queue for names are full.
  let seen = 0
  const [connection] = plane.open.of('u')
  await until('both to be full', async () => {
    for (let n = 0; n < 4; n++) {
      await send(client, to('fast.test', DATA), relay)
      await send(client, to(`slow${n}.test`, DATA), relay)
      await send(target, DATA, from.port)
    }
    const sizes = [...waiting.values()]
    const before = seen
    seen = sizes.reduce((sum, size) => sum + size, 0)
    return sizes.length === 2 && seen === before
  })
  expect(connection).toBeDefined()
  expect(seen).toBeGreaterThan(2 * DATA.length)
  // At most 65,536 bytes wait for names.
  expect(seen + 65_536).toBeLessThan(BOUND)
})
