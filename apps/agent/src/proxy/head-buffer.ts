const headEnd = Buffer.from('\r\n\r\n')
const BARE_LINE_END = /(?<!\r)\n/

export type NextHead =
  | { kind: 'none' }
  | { kind: 'too-large' }
  | { kind: 'malformed' }
  | { kind: 'head'; text: string; bytes: number }

/** Bytes of a client that belong to no request yet, and the request heads in them. */
export class HeadBuffer {
  #bytes: Buffer | null = null
  /** When the next head began, by the caller's clock: one that trickles in has to end some time. */
  since = 0

  get length(): number {
    return this.#bytes?.length ?? 0
  }

  push(chunk: Buffer, now: number): void {
    if (this.#bytes === null) {
      this.#bytes = chunk
      this.since = now
    } else this.#bytes = Buffer.concat([this.#bytes, chunk])
  }

  /** Everything that is here, which then is here no more. */
  take(): Buffer | null {
    const bytes = this.#bytes
    this.#bytes = null
    return bytes
  }

  /** Takes the next head (without its empty line). Empty lines before it are skipped: some clients send one after a body. */
  next(limit: number, now: number): NextHead {
    while (this.#bytes !== null && this.#bytes[0] === 13 && this.#bytes[1] === 10) this.#drop(2)
    const bytes = this.#bytes
    if (bytes === null) return { kind: 'none' }
    const end = bytes.indexOf(headEnd)
    if (end < 0) {
      if (bytes.length > limit) return { kind: 'too-large' }
      return { kind: BARE_LINE_END.test(bytes.toString('latin1')) ? 'malformed' : 'none' }
    }
    if (end > limit) return { kind: 'too-large' }
    this.#drop(end + 4)
    this.since = now
    return { kind: 'head', text: bytes.toString('latin1', 0, end), bytes: end + 4 }
  }

  #drop(count: number): void {
    const bytes = this.#bytes
    this.#bytes = bytes !== null && bytes.length > count ? bytes.subarray(count) : null
  }
}
