import { connect as connectSocket, createServer, type Socket } from 'node:net'
import type { SourcePorts } from '../net/source-ports.ts'
import { MAX_PORTS, type RawSocket, type RawSocketOwner, type SocketName, type Sockets } from './socket-types.ts'

/** The read buffer of all outgoing connections. Data is copied out at once. */
const shared = Buffer.allocUnsafeSlow(65_536)

/** A connection on the runtime's public sockets. Chunks always belong to the owner. */
class StreamSocket implements RawSocket {
  zeroCopy = false
  bytesRead = 0
  bytesWritten = 0
  destroyed = false
  #socket: Socket | null = null
  #owner: RawSocketOwner | null = null
  /** `#reading`: the owner wants to read. `held`: a speed limit stops it. */
  #reading = false
  held = false
  #readEnded = false
  #ended = false
  #shut = false
  #shutting = false
  /** Written bytes wait for the kernel, and the owner must learn when they are sent. */
  #waiting = false
  /** What follows once everything is sent. */
  #whenSent: 'nothing' | 'end' | 'close' | 'reset' = 'nothing'
  #resetsWhenShut = false
  readonly #written = (): void => this.#sent()

  /** Uses a paused socket, in place of an earlier one that did not connect. */
  take(socket: Socket): this {
    this.#socket = socket
    socket.on('end', () => this.#sawEnd())
    // Every error is followed by 'close'.
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#socket === socket) this.#wentAway()
    })
    return this
  }

  start(owner: RawSocketOwner): void {
    // TLS starts with a second owner.
    const begun = this.#owner !== null
    this.#owner = owner
    if (this.destroyed) return
    if (!begun) this.#socket?.on('data', (chunk: Buffer) => this.received(chunk))
    this.resume()
  }

  /** Passes on a chunk that has no other user. */
  received(chunk: Buffer): void {
    if (this.destroyed) return
    this.bytesRead += chunk.length
    this.#owner?.socketData(this, chunk)
  }

  get unsent(): number {
    return this.destroyed ? 0 : (this.#socket?.writableLength ?? 0)
  }

  get local(): SocketName {
    return { address: this.#socket?.localAddress ?? '', port: this.#socket?.localPort ?? 0 }
  }

  get peer(): SocketName {
    return { address: this.#socket?.remoteAddress ?? '', port: this.#socket?.remotePort ?? 0 }
  }

  pause(): void {
    this.#reading = false
    if (!this.destroyed) this.#socket?.pause()
  }

  resume(): void {
    this.#reading = true
    if (!this.held && !this.destroyed && this.#owner !== null) this.#socket?.resume()
  }

  hold(): void {
    this.held = true
    if (!this.destroyed) this.#socket?.pause()
  }

  release(): void {
    this.held = false
    if (this.#reading) this.resume()
  }

  write(data: Buffer | string): void {
    const socket = this.#socket
    if (this.#ended || this.destroyed || socket === null || data.length === 0) return
    this.bytesWritten += data.length
    socket.write(data, 'latin1', this.#written)
    if (socket.writableLength > 0) this.#waiting = true
  }

  #sent(): void {
    if (!this.#waiting || this.destroyed || this.unsent > 0) return
    this.#waiting = false
    if (this.#whenSent === 'close') this.#close()
    else if (this.#whenSent === 'reset') this.reset()
    else {
      if (this.#whenSent === 'end') this.#shutdown()
      this.#owner?.socketDrained(this)
    }
  }

  #sawEnd(): void {
    if (this.destroyed) return
    this.#readEnded = true
    this.#owner?.socketEnd(this)
    if (this.#shut) this.#close()
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
    this.#socket?.end(() => {
      this.#shutting = false
      if (this.#resetsWhenShut) this.#socket?.resetAndDestroy()
      if (this.destroyed) return
      this.#shut = true
      if (this.#readEnded) this.#close()
    })
  }

  closeWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.#close()
    else this.#whenSent = 'close'
  }

  /** Closes, and informs the owner. */
  #close(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.#socket?.destroy()
  }

  destroy(): void {
    this.#owner = null
    this.#close()
  }

  reset(): void {
    if (this.destroyed) return
    this.destroyed = true
    if (this.#shutting) this.#resetsWhenShut = true
    else this.#socket?.resetAndDestroy()
  }

  resetWhenSent(): void {
    this.#ended = true
    if (this.unsent === 0) this.reset()
    else this.#whenSent = 'reset'
  }

  #wentAway(): void {
    this.destroyed = true
    const owner = this.#owner
    this.#owner = null
    owner?.socketClosed(this)
  }
}

const connect: Sockets['connect'] = (host, port, family, from, done, ports: SourcePorts | null = null) => {
  const rawSocket = new StreamSocket()
  rawSocket.zeroCopy = true
  let tries = ports === null ? 1 : MAX_PORTS
  const attempt = (): void => {
    const socket = connectSocket({
      host,
      port,
      family,
      localAddress: from,
      localPort: ports?.next() ?? 0,
      allowHalfOpen: true,
      noDelay: true,
      // An own buffer, so that a paused connection takes nothing more from the kernel.
      onread: {
        buffer: shared,
        callback: bytes => {
          rawSocket.received(Buffer.from(shared.subarray(0, bytes)))
          return true
        }
      }
    })
    socket.pause()
    const failed = (error: NodeJS.ErrnoException): void => {
      // EADDRNOTAVAIL from connect: the port is in use for this target, so the next one is tried. From bind: a foreign address.
      if (error.code === 'EADDRNOTAVAIL' && error.syscall === 'connect' && --tries > 0 && !rawSocket.destroyed) {
        return attempt()
      }
      if (!rawSocket.destroyed) done(error.code ?? 'EIO')
    }
    socket.once('error', failed)
    socket.once('connect', () => {
      socket.off('error', failed)
      if (!rawSocket.destroyed) done(null)
    })
    rawSocket.take(socket)
  }
  attempt()
  return rawSocket
}

/** Sockets on the public `node:net`. They cost some hundred bytes and calls more each, but need no internals of the runtime. */
export const streamSockets: Sockets = {
  name: 'streams',
  createServer: accepted =>
    createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true, highWaterMark: 16_384 }, socket =>
      accepted(new StreamSocket().take(socket))
    ),
  connect
}
