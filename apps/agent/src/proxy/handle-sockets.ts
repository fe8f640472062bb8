import { type Server, createServer } from 'node:net'
import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import { MAX_PORTS, type RawSocket, type RawSocketOwner, type SocketName, type Sockets } from './socket-types.ts'

/** The read buffer of all quiet connections. Data is copied out at once, so one is enough. */
const shared = Buffer.allocUnsafeSlow(65_536)
/** A connection that reads this much at once gets its own larger buffer, which is passed on without a copy. */
const BUSY_BYTES = 16_384
const OWN_BYTES = 131_072
/** Limits own buffers, so that many stalled transfers cannot fill the memory. */
const MAX_OWNED = 256
/** After this many small reads a connection returns its own buffer. */
const MAX_SMALL_READS = 8
/** Returned buffers kept for reuse. Others go back to the system. */
const MAX_SPARE = 16
const spare: Buffer[] = []
let owned = 0

const END_OF_FILE = -4095
const NOT_CONNECTED = -constants.errno.ENOTCONN
const PORT_TAKEN = -constants.errno.EADDRNOTAVAIL
/** On Linux an accepted connection inherits this from the listener, which saves a system call each. */
const INHERITS_NO_DELAY = process.platform === 'linux'

/** The system fills addresses into an object of this shape. */
const name = { address: '', family: '', port: 0 }
/** Closed sockets whose owners do not know it yet. */
const closed: HandleSocket[] = []
const settled = Promise.resolve()

type HandleWithSocket = TcpHandle & { rawSocket?: HandleSocket }
/** `data`: the runtime still writes from this memory, and this is its only reference. */
type PendingWrite = WriteRequest & { rawSocket: HandleSocket | null; bytes: number; data: Buffer | string | null }

/** A connection without the runtime's streams, which cost more than the proxying. */
class HandleSocket implements RawSocket {
  readonly #handle: HandleWithSocket
  owner: RawSocketOwner | null = null
  zeroCopy = false
  bytesRead = 0
  bytesWritten = 0
  unsent = 0
  destroyed = false
  /** `#reading`: the owner wants to read. `held`: a speed limit stops it. */
  #reading = false
  held = false
  #begun = false
  #readEnded = false
  #ended = false
  #shut = false
  #shutting = false
  /** What follows once everything is sent. */
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

  /** Reads from the moment it connects, so that the kernel is asked to watch it once and not twice. */
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
    // Only an asynchronous write keeps its request. All others share one.
    spareRequest = newRequest()
    request.rawSocket = this
    request.bytes = data.length
    request.data = data
    this.unsent += data.length
  }

  /** Called when an asynchronous write completes. */
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
    // Shutdown waits for unsent bytes, and a socket that shuts down cannot be reset.
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
    notifyClosed(this)
  }

  resetWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.reset()
    else this.#whenSent = 'reset'
  }

  #close(): void {
    if (!this.#release()) return
    this.#handle.close()
    notifyClosed(this)
  }

  #release(): boolean {
    if (this.destroyed) return false
    this.destroyed = true
    // Never reused: another socket may still send from it.
    if (this.#own !== null) owned--
    this.#own = null
    return true
  }

  /** Passes on what was read. Returns the buffer for the next read, if it changes. */
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

/** Calls the owner after the present call. A closed handle reports nothing more, so the runtime's callback is not needed. */
function notifyClosed(rawSocket: HandleSocket): void {
  if (closed.push(rawSocket) === 1) void settled.then(notifyAllClosed)
}

function notifyAllClosed(): void {
  for (const rawSocket of closed.splice(0)) rawSocket.owner?.socketClosed(rawSocket)
}

function onSent(this: unknown, status: number): void {
  const { rawSocket, bytes } = this as PendingWrite
  rawSocket?.sent(bytes, status)
}

const newRequest = (): PendingWrite =>
  Object.assign(new WriteWrap(), { oncomplete: onSent, rawSocket: null, bytes: 0, data: null })
/** Created by the first write, so that loading this file works without such handles. */
let spareRequest: PendingWrite | null = null

/** Takes a server's connections before the runtime makes sockets of them. */
function handleServer(accepted: (rawSocket: RawSocket) => void): Server {
  const server = createServer()
  server.once('listening', () => {
    const { _handle: listener } = server as unknown as { _handle: TcpHandle }
    if (INHERITS_NO_DELAY) listener.setNoDelay(true)
    listener.onconnection = (status, handle) => {
      // Accept errors, such as no free file descriptors, are temporary. The listener stays.
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
    // Without an owner, nothing receives data yet.
    if (rawSocket.owner === null) rawSocket.pause()
  }
  let handle = newTcp()
  let status = 0
  for (let tries = ports === null ? 1 : MAX_PORTS; ; handle = newTcp()) {
    const request = new TCPConnectWrap()
    request.oncomplete = finish
    const local = ports?.next() ?? 0
    status = family === 4 ? handle.bind(from, local, 0) : handle.bind6(from, local, 0)
    // A failed bind means that this machine does not have the address, so other ports fail too.
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

/** Sockets on the runtime's bare handles; see docs/adr/agent-bare-handles.md. */
export const handleSockets: Sockets = { name: 'handles', createServer: handleServer, connect }

/**
 * The runtime's own TCP handles, without the streams of `node:net` (why: docs/adr/agent-bare-handles.md). Only this file
 * knows their shapes.
 */
type TcpHandle = {
  /** Called for each read with the handle as `this`. A returned buffer replaces the read buffer. */
  onread: (this: TcpHandle) => Uint8Array | undefined
  onconnection: (status: number, client: TcpHandle) => void
  useUserBuffer(buffer: Uint8Array): void
  readStart(): number
  readStop(): number
  writeBuffer(request: WriteRequest, data: Uint8Array): number
  writeLatin1String(request: WriteRequest, data: string): number
  shutdown(request: ShutdownRequest): number
  bind(address: string, port: number, flags: number): number
  bind6(address: string, port: number, flags: number): number
  connect(request: ConnectRequest, address: string, port: number): number
  connect6(request: ConnectRequest, address: string, port: number): number
  getsockname(out: SocketName & { family: string }): number
  getpeername(out: SocketName & { family: string }): number
  setNoDelay(on: boolean): number
  close(): void
  reset(): number
}
type WriteRequest = { oncomplete: (status: number) => void }
type ShutdownRequest = { oncomplete: (status: number) => void }
type ConnectRequest = { oncomplete: (status: number) => void }

type TcpBinding = {
  TCP: new (kind: number) => TcpHandle
  TCPConnectWrap: new () => ConnectRequest
  constants: { SOCKET: number }
}
type StreamBinding = {
  WriteWrap: new () => WriteRequest
  ShutdownWrap: new () => ShutdownRequest
  /** Results of the last stream call, at the two indexes below. */
  streamBaseState: Int32Array
  kReadBytesOrError: number
  kLastWriteWasAsync: number
}

/** On a runtime without these handles the result fails on use. `usableSockets` tests them before. */
function bindingOf(name: string): unknown {
  try {
    return (process as unknown as { binding: (name: string) => unknown }).binding(name)
  } catch {
    return {}
  }
}
const tcp = bindingOf('tcp_wrap') as TcpBinding
const stream = bindingOf('stream_wrap') as StreamBinding

const { TCPConnectWrap } = tcp
const { WriteWrap, ShutdownWrap } = stream
const newTcp = (): TcpHandle => new tcp.TCP(tcp.constants.SOCKET)
/** Bytes of the reported read, or a negative error. */
const lastRead = (): number => stream.streamBaseState[stream.kReadBytesOrError] ?? 0
/** Whether the last write continues after the call. */
const lastWriteWasAsync = (): boolean => stream.streamBaseState[stream.kLastWriteWasAsync] !== 0
