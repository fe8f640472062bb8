import { Duplex } from 'node:stream'
import { type SecureContext, TLSSocket } from 'node:tls'
import type { Owner, TurnBudget } from '../turns.ts'
import type { RawSocket, RawSocketOwner, SocketName } from './socket-types.ts'

/** Bytes decrypted in one go. They can hold more than a hundred records, each with work of its own. */
const SLICE = 4096
/**
 * Encrypted bytes beyond twice the decrypted ones that a client may send before its login: for the handshake, small records,
 * and one record of maximal size, which is decrypted only when complete.
 */
const MAX_OVERHEAD = 16_384 + (5 + 16_384 + 2048)
/**
 * Encrypted bytes beyond the decrypted ones that a client may send after its login while it does not read. Empty records can
 * demand answers (new keys), which the runtime queues without any way to see them.
 */
const MAX_UNREAD_OVERHEAD = 131_072

/** Owner of the connection. */
type Client = {
  /** Whose turns its work uses. */
  readonly owner: Owner
  /** Null: no login yet. */
  readonly lease: object | null
  /** Runs a callback of other code. An error ends the connection, and nothing else. */
  readonly guarded: (work: () => void) => void
}

/** The encrypted side for the runtime's TLS. It is fed in slices, in turns of the loop. */
class Encrypted extends Duplex implements RawSocketOwner {
  readonly #raw: RawSocket
  readonly #turns: TurnBudget
  readonly #client: Client
  /** Called before each slice with the bytes taken for decryption. @returns whether the connection may continue */
  readonly #mayGoOn: (decrypting: number) => boolean
  #written: (() => void) | null = null
  /** Received bytes that are not fed yet. Until then nothing is read. */
  #rest: Buffer | null = null
  #fed = 0
  #feeding = false
  #waiting = false
  #ended = false

  constructor(raw: RawSocket, { turns, client }: TlsOptions, mayGoOn: (decrypting: number) => boolean) {
    // The raw connection closes when both sides have ended, but its buffered bytes must still be read.
    super({ allowHalfOpen: true, autoDestroy: false, highWaterMark: 16_384 })
    this.#raw = raw
    this.#turns = turns
    this.#client = client
    this.#mayGoOn = mayGoOn
  }

  socketData(_raw: RawSocket, chunk: Buffer): void {
    if (this.destroyed) return
    this.#rest = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    this.#client.guarded(this.#feed)
  }

  socketEnd(): void {
    this.#ended = true
    this.#client.guarded(this.#feed)
  }

  readonly #feed = (): void => {
    if (this.#feeding || this.#waiting || this.destroyed) return
    this.#feeding = true
    let wantsMore = true
    while (wantsMore && this.#rest !== null) {
      if (!this.#mayGoOn(this.#fed - this.readableLength)) break
      const { owner } = this.#client
      if (this.#turns.isOver(owner)) {
        this.#waiting = true
        this.#turns.later(owner, this.#goOn)
        break
      }
      const slice: Buffer = this.#rest.subarray(0, SLICE)
      this.#rest = slice.length < this.#rest.length ? this.#rest.subarray(SLICE) : null
      this.#fed += slice.length
      wantsMore = this.push(slice)
    }
    this.#feeding = false
    if (this.#rest !== null) this.#raw.pause()
    else if (this.#ended) this.push(null)
    else if (wantsMore) this.#raw.resume()
    else this.#raw.pause()
  }

  readonly #goOn = (): void => {
    this.#waiting = false
    this.#client.guarded(this.#feed)
  }

  socketDrained(): void {
    const written = this.#written
    this.#written = null
    if (written !== null) this.#client.guarded(written)
  }

  socketClosed(): void {
    if (!this.#ended || !this.writableFinished) this.destroy()
  }

  override _read(): void {
    if (this.#rest !== null) this.#client.guarded(this.#feed)
    else this.#raw.resume()
  }

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#raw.write(chunk)
    if (this.#raw.unsent === 0) written()
    else this.#written = written
  }

  override _final(ended: () => void): void {
    this.#raw.end()
    ended()
  }
}

export type TlsOptions = {
  context: SecureContext
  /** Bytes that were already read. */
  first: Buffer
  turns: TurnBudget
  client: Client
}

/**
 * A client's connection inside TLS. It counts and passes on decrypted bytes. Ends, breaks and backpressure are those of the
 * raw connection.
 */
export class TlsSocket implements RawSocket {
  zeroCopy = false
  bytesRead = 0
  bytesWritten = 0
  destroyed = false
  readonly #raw: RawSocket
  readonly #tls: TLSSocket
  #owner: RawSocketOwner | null = null
  /** `#reading`: the owner wants to read. `held`: a speed limit stops it. */
  #reading = false
  held = false
  #readEnded = false
  #ended = false
  #shut = false
  #waiting = false
  /** Encrypted bytes beyond the decrypted ones, at the last moment when the kernel had everything sent to the client. */
  #overheadRead = 0
  #whenSent: 'nothing' | 'end' | 'close' | 'reset' = 'nothing'
  readonly #written = (): void => this.#sent()

  /** Takes over a connection whose first bytes were read. The caller must not use it any more. */
  constructor(raw: RawSocket, options: TlsOptions) {
    const { context, first, client } = options
    this.#raw = raw
    const encrypted = new Encrypted(raw, options, decrypting => {
      const mayGoOn = this.#mayDecrypt(decrypting, client)
      if (!mayGoOn) this.#close()
      return mayGoOn
    })
    encrypted.push(first)
    raw.start(encrypted)
    this.#tls = new TLSSocket(encrypted, { isServer: true, secureContext: context })
    this.#tls.pause()
    this.#tls.on('data', (chunk: Buffer) => {
      if (this.destroyed) return
      this.bytesRead += chunk.length
      this.#owner?.socketData(this, chunk)
    })
    this.#tls.on('end', () => this.#sawEnd())
    // An invalid handshake or record gets no answer.
    this.#tls.on('error', () => this.#close())
    // Without a server of the runtime, errors after the handshake have only this event.
    this.#tls.on('_tlsError', () => this.#close())
    this.#tls.on('close', () => this.#close())
  }

  /** After the login, content gives no credit: mixed with empty records it would let any number of them through. */
  #mayDecrypt(encrypted: number, { lease }: Client): boolean {
    const decrypted = this.bytesRead + this.#tls.readableLength
    if (lease === null) return encrypted - 2 * decrypted <= MAX_OVERHEAD
    const overhead = encrypted - decrypted
    if (this.#raw.unsent === 0) this.#overheadRead = overhead
    return overhead - this.#overheadRead <= MAX_UNREAD_OVERHEAD
  }

  start(owner: RawSocketOwner): void {
    this.#owner = owner
    this.resume()
  }

  get unsent(): number {
    return this.destroyed ? 0 : this.#tls.writableLength + this.#raw.unsent
  }

  get local(): SocketName {
    return this.#raw.local
  }

  get peer(): SocketName {
    return this.#raw.peer
  }

  pause(): void {
    this.#reading = false
    if (!this.destroyed) this.#tls.pause()
  }

  resume(): void {
    this.#reading = true
    if (!this.held && !this.destroyed) this.#tls.resume()
  }

  hold(): void {
    this.held = true
    if (!this.destroyed) this.#tls.pause()
  }

  release(): void {
    this.held = false
    if (this.#reading) this.resume()
  }

  write(data: Buffer | string): void {
    if (this.#ended || this.destroyed || data.length === 0) return
    this.bytesWritten += data.length
    this.#tls.write(data, 'latin1', this.#written)
    if (this.unsent > 0) this.#waiting = true
  }

  #sent(): void {
    if (!this.#waiting || this.destroyed || this.unsent > 0) return
    this.#waiting = false
    if (this.#whenSent === 'close') this.#finish()
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
    if (this.unsent > 0) this.#whenSent = 'end'
    else this.#shutdown()
  }

  #shutdown(): void {
    this.#whenSent = 'nothing'
    this.#tls.end(() => {
      this.#shut = true
      if (this.#readEnded || this.#whenSent === 'close') this.#close()
    })
  }

  closeWhenSent(): void {
    const ended = this.#ended
    this.#ended = true
    if (this.#shut) this.#close()
    // An end that is being sent goes first.
    else if (this.unsent > 0 || ended) this.#whenSent = 'close'
    else this.#finish()
  }

  /** Sends TLS's end before it closes, or the data would look truncated. */
  #finish(): void {
    this.#tls.end(() => this.#close())
  }

  #close(): void {
    if (this.destroyed) return
    this.destroyed = true
    // No deadline applies from here on, so a client that reads nothing would keep the connection forever.
    if (this.#raw.unsent > 0) this.#raw.reset()
    else this.#raw.closeWhenSent()
    this.#tls.destroy()
    this.#tellClosed()
  }

  /** Asynchronously, never within the call that closes. */
  #tellClosed(): void {
    queueMicrotask(() => {
      const owner = this.#owner
      this.#owner = null
      owner?.socketClosed(this)
    })
  }

  destroy(): void {
    this.#owner = null
    if (this.destroyed) return
    this.destroyed = true
    this.#raw.destroy()
    this.#tls.destroy()
  }

  reset(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.#raw.reset()
    this.#tls.destroy()
    this.#tellClosed()
  }

  resetWhenSent(): void {
    this.#ended = true
    if (this.unsent > 0) this.#whenSent = 'reset'
    else this.reset()
  }
}
