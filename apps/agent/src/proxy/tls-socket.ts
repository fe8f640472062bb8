import { Duplex } from 'node:stream'
import { type SecureContext, TLSSocket } from 'node:tls'
import type { Owner, TurnBudget } from '../turns.ts'
import type { RawSocket, RawSocketOwner, SocketName } from './raw-socket.ts'

/** What is decrypted in one go: it can hold a hundred and more records, each with work of its own. */
const SLICE = 4096
/**
 * Encrypted bytes above twice the decrypted ones that a client may send before it logs in: its handshake, small records, and
 * one of the longest that TLS allows, of which nothing is decrypted before its last byte.
 */
const MAX_OVERHEAD = 16_384 + (5 + 16_384 + 2048)
/**
 * Encrypted bytes above the decrypted ones that a client may send afterwards while it does not read what was sent to it. Records
 * that carry nothing can call for answers (new keys), which the runtime keeps until they are read, and of which it does not tell.
 */
const MAX_UNREAD_OVERHEAD = 131_072

/** Whose connection it is. */
type Client = {
  /** In whose line it waits for its turns. */
  readonly owner: Owner
  /** Null: it has not logged in yet. */
  readonly lease: object | null
  /** Does work that somebody else calls for; whatever it throws ends the connection, and nothing else. */
  readonly guarded: (work: () => void) => void
}

/** The encrypted side, as the runtime's TLS wants it: fed in slices, as the turns of the loop allow. */
class Encrypted extends Duplex implements RawSocketOwner {
  readonly #raw: RawSocket
  readonly #turns: TurnBudget
  readonly #client: Client
  /** Looks at how much was taken to be decrypted, before each slice. @returns whether the connection may go on */
  readonly #mayGoOn: (decrypting: number) => boolean
  #written: (() => void) | null = null
  /** What came and was not fed yet; meanwhile nothing is read. */
  #rest: Buffer | null = null
  #fed = 0
  #feeding = false
  #waiting = false
  #ended = false

  constructor(raw: RawSocket, { turns, client }: TlsOptions, mayGoOn: (decrypting: number) => boolean) {
    // The connection below closes by itself when both sides have ended: what came before that is still to be read here.
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
  /** What was read already. */
  first: Buffer
  turns: TurnBudget
  client: Client
}

/**
 * A client's connection inside TLS: what it counts and passes on is what was meant, without the encryption. Its ends, its
 * breaking and its back-pressure are those of the connection below.
 */
export class TlsSocket implements RawSocket {
  zeroCopy = false
  bytesRead = 0
  bytesWritten = 0
  destroyed = false
  readonly #raw: RawSocket
  readonly #tls: TLSSocket
  #owner: RawSocketOwner | null = null
  /** Whether the owner wants to read, and whether a limit of speed keeps it from that. */
  #reading = false
  held = false
  #readEnded = false
  #ended = false
  #shut = false
  #waiting = false
  /** Encrypted bytes above the decrypted ones when everything that was sent to the client was last with the kernel. */
  #overheadRead = 0
  #whenSent: 'nothing' | 'end' | 'close' | 'reset' = 'nothing'
  readonly #written = (): void => this.#sent()

  /** Takes a connection over whose first bytes have been read; nobody else may use it any more. */
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
    // A handshake or a record that is none: nothing of it is worth an answer.
    this.#tls.on('error', () => this.#close())
    // What breaks after the handshake comes by this name alone where no server of the runtime's stands behind.
    this.#tls.on('_tlsError', () => this.#close())
    this.#tls.on('close', () => this.#close())
  }

  /** Content is no credit for records without any: between those it would let any number of them through. */
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
    // An end that is on its way goes first.
    else if (this.unsent > 0 || ended) this.#whenSent = 'close'
    else this.#finish()
  }

  /** Says that this was all before it closes: otherwise it would look cut off. */
  #finish(): void {
    this.#tls.end(() => this.#close())
  }

  #close(): void {
    if (this.destroyed) return
    this.destroyed = true
    // Nobody looks after it from here on: a client that reads nothing would keep it for ever.
    if (this.#raw.unsent > 0) this.#raw.reset()
    else this.#raw.closeWhenSent()
    this.#tls.destroy()
    this.#tellClosed()
  }

  /** Not within the call that closes. */
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
