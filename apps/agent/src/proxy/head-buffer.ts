/** Most spare room, so that a connection holds little more than it received. */
const MOST_ADDED = 16_384
const NOTHING = Buffer.alloc(0)

/** Joins pieces that arrive in sequence. Each byte is copied only a few times, even if the pieces are tiny. */
export class JoinedPieces {
  /** Buffer of the bytes, with room for the next piece. */
  #room: Buffer | null = null

  /** @param bytes the result of the last call, or other bytes after `clear` */
  append(bytes: Buffer, chunk: Buffer): Buffer {
    const length = bytes.length + chunk.length
    if (this.#room === null || this.#room.length < length) {
      this.#room = Buffer.allocUnsafeSlow(length + Math.min(length, MOST_ADDED))
      bytes.copy(this.#room)
    }
    chunk.copy(this.#room, bytes.length)
    return this.#room.subarray(0, length)
  }

  /** The bytes in their own memory: a slice of a shared buffer would keep the whole buffer. */
  own(bytes: Buffer): Buffer {
    return this.#room === null ? this.append(NOTHING, bytes) : bytes
  }

  /** Gives the buffer up, because its bytes are passed on or only a part of them remains. */
  clear(): void {
    this.#room = null
  }
}

const headEnd = Buffer.from('\r\n\r\n')
const [LF, CR] = [10, 13]

export type NextHead =
  | { kind: 'none' }
  | { kind: 'too-large' }
  | { kind: 'malformed' }
  | { kind: 'head'; text: string; bytes: number }

/** Bytes of a client that belong to no request yet. It finds request heads in them. */
export class HeadBuffer {
  #bytes: Buffer | null = null
  readonly #joined = new JoinedPieces()
  /** How many bytes were searched: they contain no end of a head and no bare line feed. */
  #searched = 0
  /** When the next head began, by the caller's clock. A deadline ends slow heads. */
  since = 0

  get length(): number {
    return this.#bytes?.length ?? 0
  }

  /** Memory that the bytes occupy. */
  get held(): number {
    return this.#bytes?.buffer.byteLength ?? 0
  }

  push(chunk: Buffer, now: number): void {
    if (this.#bytes === null) {
      this.#bytes = chunk
      this.#searched = 0
      this.since = now
    } else this.#bytes = this.#joined.append(this.#bytes, chunk)
  }

  /** Removes and returns all bytes. */
  take(): Buffer | null {
    const bytes = this.#bytes
    this.#bytes = null
    this.#joined.clear()
    return bytes
  }

  /** Removes the next head (without its empty line). Empty lines before it are skipped: some clients send one after a body. */
  next(limit: number, now: number): NextHead {
    let empty = 0
    while (this.#bytes?.[empty] === CR && this.#bytes[empty + 1] === LF) empty += 2
    if (empty > 0) this.#drop(empty)
    const bytes = this.#bytes
    if (bytes === null) return { kind: 'none' }
    const end = bytes.indexOf(headEnd, Math.max(0, this.#searched - headEnd.length + 1))
    if (end < 0) {
      if (bytes.length > limit) return { kind: 'too-large' }
      if (hasBareLineEnd(bytes, this.#searched)) return { kind: 'malformed' }
      this.#searched = bytes.length
      this.#bytes = this.#joined.own(bytes)
      return { kind: 'none' }
    }
    if (end > limit) return { kind: 'too-large' }
    this.#drop(end + headEnd.length)
    this.since = now
    return { kind: 'head', text: bytes.toString('latin1', 0, end), bytes: end + headEnd.length }
  }

  #drop(count: number): void {
    const bytes = this.#bytes
    this.#bytes = bytes !== null && bytes.length > count ? bytes.subarray(count) : null
    this.#joined.clear()
    this.#searched = 0
  }
}

function hasBareLineEnd(bytes: Buffer, from: number): boolean {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) return true
  }
  return false
}

type Stranger = { readonly stranger: object | null; destroy(): void }

/**
 * Limits the memory of incomplete heads, over all connections that have not logged in. Above the limit the oldest are closed: a
 * customer's head is complete within a moment, while strangers may hold the whole memory.
 */
export class HeldHeads<C extends Stranger> {
  readonly #most: number
  readonly #madeRoom: () => void
  /** Bytes by connection, oldest head first. */
  readonly #held = new Map<C, number>()
  #bytes = 0

  /** @param most bytes of all connections. @param madeRoom is called for each connection that is closed */
  constructor(most: number, madeRoom: () => void) {
    this.#most = most
    this.#madeRoom = madeRoom
  }

  /** Sets the bytes that a connection holds, and may close it or others. Connections that logged in do not count. */
  set(connection: C, bytes: number): void {
    if (connection.stranger !== null) this.#count(connection, bytes)
    while (this.#bytes > this.#most) {
      const oldest = this.#held.keys().next().value
      if (oldest === undefined) return
      this.#count(oldest, 0)
      this.#madeRoom()
      oldest.destroy()
    }
  }

  /** The connection logged in, or is gone. */
  delete(connection: C): void {
    if (this.#held.size > 0) this.#count(connection, 0)
  }

  #count(connection: C, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(connection) ?? 0)
    if (bytes > 0) this.#held.set(connection, bytes)
    else this.#held.delete(connection)
  }
}
