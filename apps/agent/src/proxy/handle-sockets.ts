import { createServer, type Server } from 'node:net'
import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import {
  lastRead,
  lastWriteWasAsync,
  newTcp,
  ShutdownWrap,
  TCPConnectWrap,
  type TcpHandle,
  WriteWrap,
  type WriteRequest
} from './tcp-binding.ts'
import { MAX_PORTS, type RawSocket, type RawSocketOwner, type SocketName, type Sockets } from './raw-socket.ts'

/** What all quiet connections read into. What arrives is copied out at once, so that one buffer serves them all. */
const shared = Buffer.allocUnsafeSlow(65_536)
/** A connection that reads this much at once gets a larger buffer of its own and is passed on without copying. */
const BUSY_BYTES = 16_384
const OWN_BYTES = 131_072
/** The most such buffers, so that many stalled transfers cannot fill the memory. */
const MAX_OWNED = 256
/** After so many small reads the own buffer goes back. */
const MAX_SMALL_READS = 8
/** The most that wait for the next one who needs such a buffer; others are given back to the system. */
const MAX_SPARE = 16
const spare: Buffer[] = []
let owned = 0

const END_OF_FILE = -4095
const NOT_CONNECTED = -constants.errno.ENOTCONN
const PORT_TAKEN = -constants.errno.EADDRNOTAVAIL
/** There an accepted connection has this of the one that listens: a call to the kernel less for each. */
const INHERITS_NO_DELAY = process.platform === 'linux'

/** What the system is asked for names with: of this shape, since that is what it fills in. */
const name = { address: '', family: '', port: 0 }
/** Sockets that were closed, until their owners hear of it. */
const closed: HandleSocket[] = []
const settled = Promise.resolve()

type HandleWithSocket = TcpHandle & { rawSocket?: HandleSocket }
/** `data`: the runtime writes on from its memory, which nothing else may hold. */
type PendingWrite = WriteRequest & { rawSocket: HandleSocket | null; bytes: number; data: Buffer | string | null }

/** A connection without the runtime's stream machinery, which costs more than the proxying. */
class HandleSocket implements RawSocket {
  readonly #handle: HandleWithSocket
  owner: RawSocketOwner | null = null
  zeroCopy = false
  bytesRead = 0
  bytesWritten = 0
  unsent = 0
  destroyed = false
  /** Whether the owner wants to read, and whether a limit of speed keeps it from that. */
  #reading = false
  held = false
  #begun = false
  #readEnded = false
  #ended = false
  #shut = false
  #shutting = false
  /** What is to come once everything written has left. */
  #whenSent: 'nothing' | 'end' | 'close' | 'reset' = 'nothing'
  #resetsWhenShut = false
  #own: Buffer | null = null
  #smallReads = 0

  constructor(handle: TcpHandle) {
    this.#handle = handle
    this.#handle.rawSocket = this
  }

  start(owner: RawSocketOwner): void {
    this.owner = owner
    if (this.destroyed || this.#reading) return
    if (!this.#begun) this.#begin()
    this.resume()
  }

  /** Reads from the moment that it is connected on: so the kernel is asked to watch it once and not twice. */
  startEarly(): void {
    this.#begin()
    this.#reading = this.#handle.readStart() === 0
  }

  #begin(): void {
    this.#begun = true
    this.#handle.onread = onRead
    this.#handle.useUserBuffer(shared)
  }

  get local(): SocketName {
    return this.#handle.getsockname(name) === 0 ? { address: name.address, port: name.port } : { address: '', port: 0 }
  }

  get peer(): SocketName {
    return this.#handle.getpeername(name) === 0 ? { address: name.address, port: name.port } : { address: '', port: 0 }
  }

  pause(): void {
    if (!this.#reading || this.destroyed) return
    this.#reading = false
    if (!this.held) this.#handle.readStop()
  }

  resume(): void {
    if (this.#reading || this.#readEnded || this.destroyed) return
    this.#reading = true
    if (!this.held && this.#handle.readStart() !== 0) this.#close()
  }

  hold(): void {
    if (this.held || this.destroyed) return
    this.held = true
    if (this.#reading) this.#handle.readStop()
  }

  release(): void {
    if (!this.held) return
    this.held = false
    if (!this.#reading || this.#readEnded || this.destroyed) return
    if (this.#handle.readStart() !== 0) this.#close()
  }

  write(data: Buffer | string): void {
    if (this.#ended || this.destroyed || data.length === 0) return
    const request = spareRequest ?? newRequest()
    spareRequest = request
    this.bytesWritten += data.length
    const status =
      typeof data === 'string' ? this.#handle.writeLatin1String(request, data) : this.#handle.writeBuffer(request, data)
    if (status !== 0) return this.#close()
    if (!lastWriteWasAsync()) return
    // Only a write that goes on needs its request; all others use the same one.
    spareRequest = newRequest()
    request.rawSocket = this
    request.bytes = data.length
    request.data = data
    this.unsent += data.length
  }

  /** For the request of a write that went on. */
  sent(bytes: number, status: number): void {
    this.unsent -= bytes
    if (this.destroyed) return
    if (status !== 0) return this.#close()
    if (this.unsent > 0) return
    if (this.#whenSent === 'close') this.#close()
    else if (this.#whenSent === 'reset') this.reset()
    else {
      if (this.#whenSent === 'end') this.#shutdown()
      this.owner?.socketDrained(this)
    }
  }

  end(): void {
    if (this.#ended || this.destroyed) return
    this.#ended = true
    // Not before that: a socket whose end waits for its bytes cannot be reset any more.
    if (this.unsent > 0) this.#whenSent = 'end'
    else this.#shutdown()
  }

  #shutdown(): void {
    this.#whenSent = 'nothing'
    this.#shutting = true
    const request = new ShutdownWrap()
    request.oncomplete = status => {
      this.#shutting = false
      if (this.#resetsWhenShut) this.#handleReset()
      if (this.destroyed) return
      this.#shut = true
      if (status !== 0 || this.#readEnded) this.#close()
    }
    const status = this.#handle.shutdown(request)
    if (status === NOT_CONNECTED) this.#close()
    else if (status !== 0) request.oncomplete(0)
  }

  closeWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.#close()
    else this.#whenSent = 'close'
  }

  destroy(): void {
    if (this.#release()) this.#handle.close()
  }

  reset(): void {
    if (!this.#release()) return
    if (this.#shutting) this.#resetsWhenShut = true
    else this.#handleReset()
  }

  #handleReset(): void {
    if (this.#handle.reset() !== 0) this.#handle.close()
    tellClosed(this)
  }

  resetWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.reset()
    else this.#whenSent = 'reset'
  }

  #close(): void {
    if (!this.#release()) return
    this.#handle.close()
    tellClosed(this)
  }

  #release(): boolean {
    if (this.destroyed) return false
    this.destroyed = true
    // Not into the spares: its last bytes may still wait in another socket.
    if (this.#own !== null) owned--
    this.#own = null
    return true
  }

  /** Hands on what a read gave; comes back with the buffer for the next one where that is another. */
  received(bytes: number): Buffer | undefined {
    if (this.destroyed) return undefined
    if (bytes < 0) {
      this.#readEnded = true
      if (bytes !== END_OF_FILE) this.#close()
      else {
        this.owner?.socketEnd(this)
        if (this.#shut) this.#close()
      }
      return undefined
    }
    this.bytesRead += bytes
    const own = this.#own
    this.owner?.socketData(this, own === null ? copied(bytes) : own.subarray(0, bytes))
    return this.zeroCopy && !this.destroyed ? this.#nextBuffer(own, bytes) : undefined
  }

  #nextBuffer(own: Buffer | null, bytes: number): Buffer | undefined {
    if (own === null) {
      if (bytes < BUSY_BYTES || owned >= MAX_OWNED) return undefined
      owned++
      this.#smallReads = 0
      return (this.#own = spare.pop() ?? Buffer.allocUnsafeSlow(OWN_BYTES))
    }
    this.#smallReads = bytes < BUSY_BYTES ? this.#smallReads + 1 : 0
    if (!this.#reading || this.#smallReads <= MAX_SMALL_READS) return undefined
    owned--
    if (spare.length < MAX_SPARE) spare.push(own)
    this.#own = null
    return shared
  }
}

function copied(bytes: number): Buffer {
  const copy = Buffer.allocUnsafe(bytes)
  shared.copy(copy, 0, 0, bytes)
  return copy
}

function onRead(this: TcpHandle): Buffer | undefined {
  const bytes = lastRead()
  return bytes === 0 ? undefined : (this as HandleWithSocket).rawSocket?.received(bytes)
}

/** Tells the owner once the present call has ended. Of what is closed nothing more comes: the runtime need not call back for it. */
function tellClosed(rawSocket: HandleSocket): void {
  if (closed.push(rawSocket) === 1) void settled.then(tellAllClosed)
}

function tellAllClosed(): void {
  for (const rawSocket of closed.splice(0)) rawSocket.owner?.socketClosed(rawSocket)
}

function onSent(this: unknown, status: number): void {
  const { rawSocket, bytes } = this as PendingWrite
  rawSocket?.sent(bytes, status)
}

const newRequest = (): PendingWrite =>
  Object.assign(new WriteWrap(), { oncomplete: onSent, rawSocket: null, bytes: 0, data: null })
/** Made with the first write: where there are no such handles, nothing is asked of them by loading this file. */
let spareRequest: PendingWrite | null = null

/** Takes the connections of a server over before the runtime makes sockets of them. */
function handleServer(accepted: (rawSocket: RawSocket) => void): Server {
  const server = createServer()
  server.once('listening', () => {
    const { _handle: listener } = server as unknown as { _handle: TcpHandle }
    if (INHERITS_NO_DELAY) listener.setNoDelay(true)
    listener.onconnection = (status, handle) => {
      // Accept errors (no more file descriptors) pass; the listener stays.
      if (status !== 0) return
      if (!INHERITS_NO_DELAY) handle.setNoDelay(true)
      accepted(new HandleSocket(handle))
    }
  })
  return server
}

const connect: Sockets['connect'] = (host, port, family, from, done, ports = null) => {
  const finish = (status: number): void => {
    if (rawSocket.destroyed) return
    done(status === 0 ? null : getSystemErrorName(status))
    // Nobody is there yet to hear of what comes.
    if (rawSocket.owner === null) rawSocket.pause()
  }
  let handle = newTcp()
  let status = 0
  for (let tries = ports === null ? 1 : MAX_PORTS; ; handle = newTcp()) {
    const request = new TCPConnectWrap()
    request.oncomplete = finish
    const local = ports?.next() ?? 0
    status = family === 4 ? handle.bind(from, local, 0) : handle.bind6(from, local, 0)
    // Not even bound: the address is not this machine's, whatever the port.
    if (status !== 0) break
    status = family === 4 ? handle.connect(request, host, port) : handle.connect6(request, host, port)
    if (status !== PORT_TAKEN || --tries === 0) break
    handle.close()
  }
  const rawSocket = new HandleSocket(handle)
  rawSocket.zeroCopy = true
  if (status === 0) {
    handle.setNoDelay(true)
    rawSocket.startEarly()
  } else queueMicrotask(() => finish(status))
  return rawSocket
}

/** Sockets on the runtime's bare handles: see docs/adr/agent-bare-handles.md. */
export const handleSockets: Sockets = { name: 'handles', createServer: handleServer, connect }
