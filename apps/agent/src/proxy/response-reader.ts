import { ChunkScanner } from './chunks.ts'
import type { RequestHead } from './request-head.ts'
import { parseResponseHead } from './response-head.ts'

const emptyLine = Buffer.from('\n\r\n')
const bareEmptyLine = Buffer.from('\n\n')
/** Up to this size head and first body bytes are copied into one buffer, so that they leave in one write. */
const COPY_LIMIT = 16_384
const MAX_INTERIM = 16

/** What a piece of the answer gives: what the client gets, and how it goes on. `rest` stands behind the end. */
export type Step = { write: Buffer[]; state: 'more' | 'done' | 'bad' | 'switch'; rest: Buffer | null }

/** Reads one answer of a target and turns it into what the client gets. */
export class ResponseReader {
  readonly #request: RequestHead
  readonly #maxHead: number
  #buffered: Buffer | null = null
  #interim = 0
  #left = -1
  #scanner: ChunkScanner | null = null
  #unchunk = false
  status = 0
  /** Whether any byte came from the target. */
  received = false
  /** Whether bytes of the final answer went to the client. */
  begun = false
  /** The answer ends where the target closes. */
  untilClose = false
  /** Whether target and client keep their connections after this answer. */
  keepAlive = false
  clientKeepAlive = false

  constructor(request: RequestHead, maxHead: number) {
    this.#request = request
    this.#maxHead = maxHead
  }

  read(chunk: Buffer): Step {
    this.received = true
    if (this.begun) return this.#body(chunk, [])
    let data = this.#buffered === null ? chunk : Buffer.concat([this.#buffered, chunk])
    this.#buffered = null
    const write: Buffer[] = []
    for (;;) {
      const { end, next } = endOfHead(data)
      if (end > this.#maxHead || (end < 0 && data.length > this.#maxHead)) return bad(write)
      if (end < 0) {
        // The next read may overwrite the piece (`zeroCopy`).
        this.#buffered = data === chunk ? Buffer.from(data) : data
        return { write, state: 'more', rest: null }
      }
      const head = parseResponseHead(data.toString('latin1', 0, end), this.#request.method)
      const rest = data.subarray(next)
      if (head === null) return bad(write)
      if (head.status === 101) {
        if (!this.#request.upgrade) return bad(write)
        this.begun = true
        write.push(Buffer.from(`${head.forward}Connection: Upgrade\r\n\r\n`, 'latin1'))
        return { write, state: 'switch', rest: rest.length > 0 ? rest : null }
      }
      if (head.status < 200) {
        if (++this.#interim > MAX_INTERIM) return bad(write)
        if (this.#request.minor === 1) write.push(Buffer.from(`${head.forward}\r\n`, 'latin1'))
        data = rest
        continue
      }
      return this.#final(head, rest, write)
    }
  }

  #final(head: NonNullable<ReturnType<typeof parseResponseHead>>, rest: Buffer, write: Buffer[]): Step {
    this.status = head.status
    this.begun = true
    this.untilClose = head.framing.kind === 'close'
    this.keepAlive = head.keepAlive
    this.clientKeepAlive = this.#request.keepAlive && !this.untilClose
    let text = head.forward
    if (head.framing.kind === 'chunked') {
      this.#scanner = new ChunkScanner()
      this.#unchunk = this.#request.minor === 0
      if (!this.#unchunk) text += 'Transfer-Encoding: chunked\r\n'
    } else if (head.framing.kind === 'length') this.#left = head.framing.length
    else if (head.framing.kind === 'none') this.#left = 0
    text += this.clientKeepAlive ? '\r\n' : 'Connection: close\r\n\r\n'
    const body = this.#body(rest, [])
    const first = body.write[0]
    if (first === undefined) write.push(Buffer.from(text, 'latin1'))
    else if (first.length <= COPY_LIMIT) {
      const joined = Buffer.allocUnsafe(text.length + first.length)
      joined.write(text, 0, 'latin1')
      first.copy(joined, text.length)
      body.write[0] = joined
    } else write.push(Buffer.from(text, 'latin1'))
    return { write: [...write, ...body.write], state: body.state, rest: body.rest }
  }

  #body(chunk: Buffer, write: Buffer[]): Step {
    if (this.#scanner !== null) return this.#chunked(chunk, write)
    if (this.untilClose) {
      if (chunk.length > 0) write.push(chunk)
      return { write, state: 'more', rest: null }
    }
    const used = Math.min(this.#left, chunk.length)
    if (used > 0) write.push(used === chunk.length ? chunk : chunk.subarray(0, used))
    this.#left -= used
    const rest = used < chunk.length ? chunk.subarray(used) : null
    return this.#left === 0 ? { write, state: 'done', rest } : { write, state: 'more', rest: null }
  }

  #chunked(chunk: Buffer, write: Buffer[]): Step {
    const unchunk = this.#unchunk
    const scan = this.#scanner?.scan(chunk, 0, (start, end) => {
      if (unchunk) write.push(chunk.subarray(start, end))
    })
    if (scan === undefined || !scan.ok) return bad(write)
    if (!unchunk && scan.used > 0) write.push(chunk.subarray(0, scan.used))
    const rest = scan.used < chunk.length ? chunk.subarray(scan.used) : null
    return { write, state: scan.done ? 'done' : 'more', rest }
  }
}

/** Where a head ends, and where what follows begins; -1 where it is not whole. Some targets end lines with a line feed alone. */
function endOfHead(data: Buffer): { end: number; next: number } {
  const last = data.indexOf(emptyLine)
  const bare = (last < 0 ? data : data.subarray(0, last + 1)).indexOf(bareEmptyLine)
  if (bare >= 0) return { end: data[bare - 1] === 13 ? bare - 1 : bare, next: bare + 2 }
  return { end: last > 0 && data[last - 1] === 13 ? last - 1 : last, next: last + 3 }
}

const bad = (write: Buffer[]): Step => ({ write, state: 'bad', rest: null })
