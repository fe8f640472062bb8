import type { Server } from 'node:net'
import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import {
  lastRead,
  lastWriteGoesOn,
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
const busyBytes = 16_384
const ownBytes = 131_072
/** The most such buffers, so that many stalled transfers cannot fill the memory. */
const maxOwned = 256
/** After so many small reads the own buffer goes back. */
const maxSmallReads = 8
const spare: Buffer[] = []
let owned = 0

const endOfFile = -4095
const notConnected = -constants.errno.ENOTCONN

/** Who is told of what happens on a wire. */
export type WireOwner = {
  /** A piece came. From a wire that lends, it has to be written or copied within the call, see `lends`. */
  wireData(wire: Wire, chunk: Buffer): void
  /** The other end will send nothing more. */
  wireEnd(wire: Wire): void
  /** Everything written is with the kernel. */
  wireDrained(wire: Wire): void
  /** The wire broke or came to its end; not called for `destroy()`. */
  wireClosed(wire: Wire): void
}

type Tied = TcpHandle & { wire?: Wire }
type PendingWrite = WriteRequest & { wire: Wire | null; bytes: number }

/**
 * A TCP connection without the runtime's stream machinery, which costs more than the proxying. Either side may end on
 * its own; when both have, the wire closes. Calls on a closed wire do nothing.
 */
export class Wire {
  readonly #handle: Tied
  owner: WireOwner | null = null
  /**
   * Whether large pieces may come in a buffer that the next read overwrites: then the owner pauses the wire while bytes
   * of it wait in another one.
   */
  lends = false
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
  #closesWhenSent = false
  #own: Buffer | null = null
  #smallReads = 0

  private constructor(handle: TcpHandle) {
    this.#handle = handle
    this.#handle.wire = this
  }

  /** Takes connections of a listening server over before the runtime makes sockets of them. */
  static accept(server: Server, accepted: (wire: Wire) => void): void {
    const { _handle: listener } = server as unknown as { _handle: TcpHandle }
    listener.onconnection = (status, handle) => {
      // Accept errors (no more file descriptors) pass; the listener stays.
      if (status !== 0) return
      handle.setNoDelay(true)
      accepted(new Wire(handle))
    }
  }

  /** Connects from an address; `done` gets the error's code, or null. Not called once the wire is destroyed. */
  static connect(host: string, port: number, family: 4 | 6, from: string, done: (code: string | null) => void): Wire {
    const handle = newTcp()
    const wire = new Wire(handle)
    wire.lends = true
    const request = new TCPConnectWrap()
    const finish = (status: number): void => {
      if (!wire.destroyed) done(status === 0 ? null : getSystemErrorName(status))
    }
    request.oncomplete = finish
    let status = family === 4 ? handle.bind(from, 0, 0) : handle.bind6(from, 0, 0)
    if (status === 0) {
      handle.setNoDelay(true)
      status = family === 4 ? handle.connect(request, host, port) : handle.connect6(request, host, port)
    }
    if (status !== 0) queueMicrotask(() => finish(status))
    return wire
  }

  /** Begins to tell the owner. */
  start(owner: WireOwner): void {
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
    if (!lastWriteGoesOn()) return
    // Only a write that goes on needs its request; all others use the same one.
    spareRequest = newRequest()
    request.wire = this
    request.bytes = data.length
    this.unsent += data.length
  }

  /** For the request of a write that went on. */
  sent(bytes: number, status: number): void {
    this.unsent -= bytes
    if (this.destroyed) return
    if (status !== 0) return this.#close()
    if (this.unsent > 0) return
    if (this.#closesWhenSent) this.#close()
    else this.owner?.wireDrained(this)
  }

  /** Ends this side once everything written has left. */
  end(): void {
    if (this.#ended || this.destroyed) return
    this.#ended = true
    const request = new ShutdownWrap()
    request.oncomplete = status => {
      if (this.destroyed) return
      this.#shut = true
      if (status !== 0 || this.#readEnded) this.#close()
    }
    const status = this.#handle.shutdown(request)
    if (status === notConnected) this.#close()
    else if (status !== 0) request.oncomplete(0)
  }

  /** Closes once everything written has left. */
  closeWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.#close()
    else this.#closesWhenSent = true
  }

  /** Closes at once; the owner hears nothing more. */
  destroy(): void {
    if (this.#release()) this.#handle.close()
  }

  /** Closes with a reset, so that the other end does not take what it has for the whole. */
  reset(): void {
    // A wire that is just ending cannot be reset any more.
    if (this.#release() && this.#handle.reset(onClosed) !== 0) this.#handle.close(onClosed)
  }

  #close(): void {
    if (this.#release()) this.#handle.close(onClosed)
  }

  #release(): boolean {
    if (this.destroyed) return false
    this.destroyed = true
    // Not into the spares: its last bytes may still wait in another wire.
    if (this.#own !== null) owned--
    this.#own = null
    return true
  }

  /** Hands on what a read gave; comes back with the buffer for the next one where that is another. */
  received(bytes: number): Buffer | undefined {
    if (this.destroyed) return undefined
    if (bytes < 0) {
      this.#readEnded = true
      if (bytes !== endOfFile) this.#close()
      else {
        this.owner?.wireEnd(this)
        if (this.#shut) this.#close()
      }
      return undefined
    }
    this.bytesRead += bytes
    const own = this.#own
    this.owner?.wireData(this, own === null ? copied(bytes) : own.subarray(0, bytes))
    return this.lends && !this.destroyed ? this.#nextBuffer(own, bytes) : undefined
  }

  #nextBuffer(own: Buffer | null, bytes: number): Buffer | undefined {
    if (own === null) {
      if (bytes < busyBytes || owned >= maxOwned) return undefined
      owned++
      this.#smallReads = 0
      return (this.#own = spare.pop() ?? Buffer.allocUnsafeSlow(ownBytes))
    }
    this.#smallReads = bytes < busyBytes ? this.#smallReads + 1 : 0
    if (!this.#reading || this.#smallReads <= maxSmallReads) return undefined
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
  return bytes === 0 ? undefined : (this as Tied).wire?.received(bytes)
}

function onClosed(this: unknown): void {
  const { wire } = this as Tied
  wire?.owner?.wireClosed(wire)
}

function onSent(this: unknown, status: number): void {
  const { wire, bytes } = this as PendingWrite
  wire?.sent(bytes, status)
}

const newRequest = (): PendingWrite => Object.assign(new WriteWrap(), { oncomplete: onSent, wire: null, bytes: 0 })
let spareRequest = newRequest()
