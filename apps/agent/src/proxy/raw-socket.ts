import type { Server } from 'node:net'
import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import type { SourcePorts } from '../net/source-ports.ts'
import {
  lastRead,
  lastWriteWasAsync,
  newTcp,
  ShutdownWrap,
  type SocketName,
  TCPConnectWrap,
  type TcpHandle,
  WriteWrap,
  type WriteRequest
} from './tcp-binding.ts'

/** What all quiet connections read into. What arrives is copied out at once, so that one buffer serves them all. */
const shared = Buffer.allocUnsafeSlow(65_536)
/** A connection that reads this much at once gets a larger buffer of its own and is passed on without copying. */
const BUSY_BYTES = 16_384
const OWN_BYTES = 131_072
/** The most such buffers, so that many stalled transfers cannot fill the memory. */
const MAX_OWNED = 256
/** After so many small reads the own buffer goes back. */
const MAX_SMALL_READS = 8
const spare: Buffer[] = []
let owned = 0

const END_OF_FILE = -4095
const NOT_CONNECTED = -constants.errno.ENOTCONN
const PORT_TAKEN = -constants.errno.EADDRNOTAVAIL
/** How many local ports are tried that are in use for the same target. */
const MAX_PORTS = 64

/** Who is told of what happens on a socket. */
export type RawSocketOwner = {
  /** A piece came. With `zeroCopy` it has to be written or copied within the call. */
  socketData(rawSocket: RawSocket, chunk: Buffer): void
  /** The other end will send nothing more. */
  socketEnd(rawSocket: RawSocket): void
  /** Everything written is with the kernel. */
  socketDrained(rawSocket: RawSocket): void
  /** The socket broke or came to its end; not called for `destroy()`. */
  socketClosed(rawSocket: RawSocket): void
}

type HandleWithSocket = TcpHandle & { rawSocket?: RawSocket }
type PendingWrite = WriteRequest & { rawSocket: RawSocket | null; bytes: number }

/**
 * A TCP connection without the runtime's stream machinery, which costs more than the proxying. Either side may end on
 * its own; when both have, the socket closes. Calls on a closed socket do nothing.
 */
export class RawSocket {
  readonly #handle: HandleWithSocket
  owner: RawSocketOwner | null = null
  /**
   * Whether large pieces may come in a buffer that the next read overwrites: then the owner pauses the socket while bytes
   * of it wait in another one.
   */
  zeroCopy = false
  bytesRead = 0
  /** Includes what is not with the kernel yet. */
  bytesWritten = 0
  /** Bytes written that the kernel did not take yet. */
  unsent = 0
  destroyed = false
  #reading = false
  #readEnded = false
  #ended = false
  #shut = false
  #shutting = false
  /** What is to come once everything written has left. */
  #whenSent: 'nothing' | 'end' | 'close' | 'reset' = 'nothing'
  #resetsWhenShut = false
  #own: Buffer | null = null
  #smallReads = 0

  private constructor(handle: TcpHandle) {
    this.#handle = handle
    this.#handle.rawSocket = this
  }

  /** Takes connections of a listening server over before the runtime makes sockets of them. */
  static accept(server: Server, accepted: (rawSocket: RawSocket) => void): void {
    const { _handle: listener } = server as unknown as { _handle: TcpHandle }
    listener.onconnection = (status, handle) => {
      // Accept errors (no more file descriptors) pass; the listener stays.
      if (status !== 0) return
      handle.setNoDelay(true)
      accepted(new RawSocket(handle))
    }
  }

  /**
   * Connects from an address, and from one of `ports` (without them the kernel chooses). `done` gets the error's code, or
   * null; it is not called once the socket is destroyed. `EADDRINUSE` says that the local port belongs to a listener.
   */
  static connect(
    host: string,
    port: number,
    family: 4 | 6,
    from: string,
    done: (code: string | null) => void,
    ports: SourcePorts | null = null
  ): RawSocket {
    const finish = (status: number): void => {
      if (!rawSocket.destroyed) done(status === 0 ? null : getSystemErrorName(status))
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
    const rawSocket = new RawSocket(handle)
    rawSocket.zeroCopy = true
    if (status === 0) handle.setNoDelay(true)
    else queueMicrotask(() => finish(status))
    return rawSocket
  }

  /** Begins to tell the owner. */
  start(owner: RawSocketOwner): void {
    this.owner = owner
    if (this.destroyed) return
    this.#handle.onread = onRead
    this.#handle.useUserBuffer(shared)
    this.resume()
  }

  /** The address and port of this end; an empty address when the connection is gone already. */
  get local(): SocketName {
    const name = { address: '', port: 0 }
    this.#handle.getsockname(name)
    return name
  }

  get peer(): SocketName {
    const name = { address: '', port: 0 }
    this.#handle.getpeername(name)
    return name
  }

  pause(): void {
    if (!this.#reading || this.destroyed) return
    this.#reading = false
    this.#handle.readStop()
  }

  resume(): void {
    if (this.#reading || this.#readEnded || this.destroyed) return
    this.#reading = true
    if (this.#handle.readStart() !== 0) this.#close()
  }

  /** Text goes out as latin1. What the kernel does not take at once counts as `unsent`. */
  write(data: Buffer | string): void {
    if (this.#ended || this.destroyed || data.length === 0) return
    const request = spareRequest
    this.bytesWritten += data.length
    const status =
      typeof data === 'string' ? this.#handle.writeLatin1String(request, data) : this.#handle.writeBuffer(request, data)
    if (status !== 0) return this.#close()
    if (!lastWriteWasAsync()) return
    // Only a write that goes on needs its request; all others use the same one.
    spareRequest = newRequest()
    request.rawSocket = this
    request.bytes = data.length
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

  /** Ends this side once everything written has left. */
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

  /** Closes once everything written has left. */
  closeWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.#close()
    else this.#whenSent = 'close'
  }

  /** Closes at once; the owner hears nothing more. */
  destroy(): void {
    if (this.#release()) this.#handle.close()
  }

  /** Closes with a reset, so that the other end does not take what it has for the whole. */
  reset(): void {
    if (!this.#release()) return
    if (this.#shutting) this.#resetsWhenShut = true
    else this.#handleReset()
  }

  #handleReset(): void {
    if (this.#handle.reset(onClosed) !== 0) this.#handle.close(onClosed)
  }

  /** Resets once everything written has left. */
  resetWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.reset()
    else this.#whenSent = 'reset'
  }

  #close(): void {
    if (this.#release()) this.#handle.close(onClosed)
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
    spare.push(own)
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

function onClosed(this: unknown): void {
  const { rawSocket } = this as HandleWithSocket
  rawSocket?.owner?.socketClosed(rawSocket)
}

function onSent(this: unknown, status: number): void {
  const { rawSocket, bytes } = this as PendingWrite
  rawSocket?.sent(bytes, status)
}

const newRequest = (): PendingWrite => Object.assign(new WriteWrap(), { oncomplete: onSent, rawSocket: null, bytes: 0 })
let spareRequest = newRequest()
