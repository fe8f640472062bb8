import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { handleSockets } from './handle-sockets.ts'
import type { RawSocket, RawSocketOwner, SocketChoice, Sockets } from './socket-types.ts'
import { streamSockets } from './stream-sockets.ts'

const PROBE_MS = 5000
/** More than one read returns. */
const PROBE_BYTES = 200_000

/** Selects the sockets to use. `problem`: why the bare handles were rejected. */
export async function usableSockets(
  choice: SocketChoice,
  handles: Sockets = handleSockets,
  patienceMs: number = PROBE_MS
): Promise<{ sockets: Sockets; problem: string | null }> {
  if (choice !== 'auto') return { sockets: choice === 'handles' ? handles : streamSockets, problem: null }
  try {
    await probe(handles, patienceMs)
    return { sockets: handles, problem: null }
  } catch (error) {
    return { sockets: streamSockets, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Tests what the data plane relies on, over the loopback. @throws Error if any of it fails */
async function probe(sockets: Sockets, patienceMs: number): Promise<void> {
  const made: Array<{ destroy: () => void }> = []
  const { promise: failed, reject } = Promise.withResolvers<never>()
  const late = setTimeout(() => reject(new Error('no answer over the loopback')), patienceMs)
  const inTime = <T>(work: Promise<T>): Promise<T> => Promise.race([work, failed])
  const waiting: Array<(rawSocket: RawSocket) => void> = []
  // An error in a callback from the runtime would end the process.
  const caught = !process.hasUncaughtExceptionCaptureCallback()
  if (caught) process.setUncaughtExceptionCaptureCallback(reject)
  const server = sockets.createServer(rawSocket => {
    made.push(rawSocket)
    waiting.shift()?.(rawSocket)
  })
  const accepted = (): Promise<RawSocket> => new Promise(resolve => waiting.push(resolve))
  server.on('error', reject)
  try {
    server.listen(0, '127.0.0.1')
    await inTime(once(server, 'listening'))
    const { port } = server.address() as AddressInfo
    await inTime(tryStream(sockets, port, accepted(), made))
    await inTime(tryReset(port, accepted(), made))
  } finally {
    clearTimeout(late)
    if (caught) process.setUncaughtExceptionCaptureCallback(null)
    for (const each of made) each.destroy()
    server.close()
  }
}

/** Tests bytes both ways, backpressure, and half-closed connections. */
async function tryStream(
  sockets: Sockets,
  port: number,
  accepting: Promise<RawSocket>,
  made: Array<{ destroy: () => void }>
): Promise<void> {
  const connected = Promise.withResolvers<string | null>()
  const near = sockets.connect('127.0.0.1', port, 4, '127.0.0.1', connected.resolve)
  made.push(near)
  const code = await connected.promise
  if (code !== null) throw new Error(`connecting: ${code}`)
  const far = await accepting
  const sent = Buffer.alloc(PROBE_BYTES, 'what is sent has to arrive')
  const [there, back] = [new Receiver(), new Receiver()]
  far.start(there)
  near.start(back)
  if (near.peer.port !== port || far.peer.port !== near.local.port) throw new Error('names of the ends')
  near.write(sent)
  near.end()
  await there.ended
  if (!Buffer.concat(there.pieces).equals(sent) || near.unsent !== 0) throw new Error('bytes there')
  far.write('and back')
  far.end()
  await Promise.all([back.ended, there.closed, back.closed])
  if (Buffer.concat(back.pieces).toString() !== 'and back') throw new Error('bytes back')
}

/** Tests that a reset differs from an end. */
async function tryReset(
  port: number,
  accepting: Promise<RawSocket>,
  made: Array<{ destroy: () => void }>
): Promise<void> {
  const plain: Socket = connect(port, '127.0.0.1')
  made.push(plain)
  const error = new Promise<NodeJS.ErrnoException>(resolve => plain.once('error', resolve))
  const rawSocket = await accepting
  rawSocket.start(new Receiver())
  plain.resume()
  rawSocket.reset()
  if ((await error).code !== 'ECONNRESET') throw new Error('a reset')
}

class Receiver implements RawSocketOwner {
  readonly pieces: Buffer[] = []
  readonly #ended = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<void>()
  readonly ended: Promise<void> = this.#ended.promise
  readonly closed: Promise<void> = this.#closed.promise

  socketData(_rawSocket: RawSocket, chunk: Buffer): void {
    this.pieces.push(Buffer.from(chunk))
  }
  socketEnd(): void {
    this.#ended.resolve()
  }
  socketDrained(): void {}
  socketClosed(): void {
    this.#closed.resolve()
  }
}
