import type { Framing } from './request-head.ts'
import type { RawSocket } from './socket-types.ts'

const states = { size: 0, extension: 1, sizeEnd: 2, data: 3, dataCr: 4, dataLf: 5, trailer: 6, done: 7 } as const
type State = (typeof states)[keyof typeof states]

const MAX_EXTENSION = 256
const MAX_TRAILER = 8192

/** Result for one piece: how many bytes belong to the body, and whether it is complete. `ok: false`: malformed. */
export type Scan = { ok: true; used: number; done: boolean } | { ok: false }

/**
 * Parses a chunked body piece by piece, strictly: hexadecimal sizes of at most 12 digits, lines that end with CRLF.
 * Chunk extensions and trailers are skipped and never passed on, because parsers disagree about them.
 */
export class ChunkScanner {
  #state: State = states.size
  #digits = 0
  #left = 0
  #skipped = 0
  #lineLength = 0
  #sawCr = false

  /** Reads a piece from `from` on. `payload` receives each run of data bytes. */
  scan(piece: Buffer, from: number, payload: (start: number, end: number) => void): Scan {
    let at = from
    while (at < piece.length && this.#state !== states.done) {
      if (this.#state === states.data) {
        const end = Math.min(piece.length, at + this.#left)
        payload(at, end)
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#state = states.dataCr
        continue
      }
      if (!this.#step(piece[at] ?? 0)) return { ok: false }
      at++
    }
    return { ok: true, used: at - from, done: this.#state === states.done }
  }

  #step(byte: number): boolean {
    switch (this.#state) {
      case states.size:
        return this.#size(byte)
      case states.extension:
        if (byte === 13) this.#state = states.sizeEnd
        else if (byte < 32 && byte !== 9) return false
        return ++this.#skipped <= MAX_EXTENSION
      case states.sizeEnd:
        if (byte !== 10) return false
        this.#state = this.#left === 0 ? states.trailer : states.data
        this.#digits = 0
        this.#skipped = 0
        return true
      case states.dataCr:
        this.#state = states.dataLf
        return byte === 13
      case states.dataLf:
        this.#state = states.size
        return byte === 10
      default:
        return this.#trailer(byte)
    }
  }

  #size(byte: number): boolean {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      this.#left = this.#left * 16 + digit
      return ++this.#digits <= 12
    }
    if (this.#digits === 0) return false
    if (byte === 13) this.#state = states.sizeEnd
    else if (byte === 59) this.#state = states.extension
    else return false
    return true
  }

  #trailer(byte: number): boolean {
    if (this.#sawCr) {
      if (byte !== 10) return false
      this.#sawCr = false
      if (this.#lineLength === 0) this.#state = states.done
      this.#lineLength = 0
    } else if (byte === 13) this.#sawCr = true
    else if (byte < 32 && byte !== 9) return false
    else this.#lineLength++
    return ++this.#skipped <= MAX_TRAILER
  }
}

/** Joins the data bytes of a piece, because tiny chunks would cost one write each. */
export function scanPayload(scanner: ChunkScanner, piece: Buffer, from: number): { scan: Scan; payload: Buffer } {
  const payload = Buffer.allocUnsafe(piece.length - from)
  let length = 0
  const scan = scanner.scan(piece, from, (start, end) => {
    length += piece.copy(payload, length, start, end)
  })
  return { scan, payload: payload.subarray(0, length) }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48
  const lower = byte | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

const lineEnd = Buffer.from('\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/** Passes a request's body on to the target and finds its end. Chunked bodies are framed again; see `ChunkScanner`. */
export class RequestBody {
  #left: number
  #scanner: ChunkScanner | null
  done: boolean

  constructor(framing: Framing) {
    this.#left = framing.kind === 'length' ? framing.length : 0
    this.#scanner = framing.kind === 'chunked' ? new ChunkScanner() : null
    this.done = framing.kind === 'none'
  }

  get isChunked(): boolean {
    return this.#scanner !== null
  }

  /** Writes the body's bytes. `rest` follows the end of the body. */
  feed(chunk: Buffer, remote: RawSocket): { ok: true; rest: Buffer | null } | { ok: false } {
    if (this.#scanner === null) {
      const used = Math.min(this.#left, chunk.length)
      this.#left -= used
      this.done = this.#left === 0
      if (used === chunk.length) {
        remote.write(chunk)
        return { ok: true, rest: null }
      }
      if (used > 0) remote.write(chunk.subarray(0, used))
      return { ok: true, rest: chunk.subarray(used) }
    }
    const { scan, payload } = scanPayload(this.#scanner, chunk, 0)
    const parts = payload.length > 0 ? [Buffer.from(`${payload.length.toString(16)}\r\n`), payload, lineEnd] : []
    if (scan.ok && scan.done) parts.push(lastChunk)
    remote.write(Buffer.concat(parts))
    if (!scan.ok) return scan
    this.done = scan.done
    return { ok: true, rest: scan.used < chunk.length ? chunk.subarray(scan.used) : null }
  }
}
