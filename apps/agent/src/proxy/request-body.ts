import { ChunkScanner, scanPayload } from './chunks.ts'
import type { Framing } from './request-head.ts'
import type { RawSocket } from './raw-socket.ts'

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
