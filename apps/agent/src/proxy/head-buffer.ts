import { JoinedPieces } from './joined-pieces.ts'

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
