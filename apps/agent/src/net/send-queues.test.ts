import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { onEnd, until } from '../../test/base.ts'
import { handleSockets } from '../proxy/handle-sockets.ts'
import { streamSockets } from '../proxy/stream-sockets.ts'
import { SendQueues } from './send-queues.ts'

/** Reading the system's table takes long on a machine with many connections. */
const SLOW_MS = 50_000

describe.runIf(process.platform === 'linux').for([handleSockets, streamSockets])('on $name', sockets => {
  test.for(['127.0.0.1', '::1'])(
    'the bytes that the kernel holds for %s are counted until the reader takes them',
    async host => {
      const accepted = Promise.withResolvers<Socket>()
      const server = createServer({ pauseOnConnect: true }, accepted.resolve)
      onEnd(() => server.close())
      await once(server.listen(0, host), 'listening')
      const connected = Promise.withResolvers<string | null>()
      const { port } = server.address() as AddressInfo
      const rawSocket = sockets.connect(host, port, host === '::1' ? 6 : 4, host, connected.resolve)
      onEnd(() => rawSocket.destroy())
      expect(await connected.promise).toBe(null)
      const reader = await accepted.promise
      onEnd(() => reader.destroy())
      rawSocket.start({ socketData: () => {}, socketEnd: () => {}, socketDrained: () => {}, socketClosed: () => {} })
      const size = 8 << 20
      rawSocket.write(Buffer.alloc(size))
      const queues = new SendQueues()
      const held = (): Promise<number | null> =>
        new Promise(answer => queues.ask([{ local: rawSocket.local, peer: rawSocket.peer }], answer))
      await until('bytes to be held', async () => ((await held()) ?? 0) > 0, SLOW_MS)
      let taken = 0
      reader.on('data', (chunk: Buffer) => (taken += chunk.length)).resume()
      await until('all of it to be taken', () => taken === size)
      await until('none to be held', async () => (await held()) === 0, SLOW_MS)
      expect(rawSocket.unsent).toBe(0)
    }
  )
})
