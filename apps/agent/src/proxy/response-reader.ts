import { ChunkScanner, scanPayload } from './chunks.ts'
import { JoinedPieces } from './joined-pieces.ts'
import type { RequestHead } from './request-head.ts'
import { parseResponseHead, type ResponseHead } from './response-head.ts'

const emptyLine = Buffer.from('\n\r\n')
const bareEmptyLine = Buffer.from('\n\n')
/** Up to this size, head and first body bytes are joined to leave in one write. */
const COPY_LIMIT = 16_384
const MAX_INTERIM = 16
/** Length of two regular line ends. */
const EMPTY_LINE = 4

/** Result of one piece: bytes for the client, and the new state. `rest` follows the end of the response. */
export type Step = { write: Buffer[]; state: 'more' | 'done' | 'bad' | 'switch'; rest: Buffer | null }

/** Parses one response of a target into what the client gets. */
export class ResponseReader {
  readonly #request: RequestHead
  readonly #maxHead: number
  #buffered: Buffer | null = null
  readonly #joined = new JoinedPieces()
  /** How many buffered bytes were searched for the end of the head. */
  #searched = 0
  #interim = 0
  #left = -1
  #scanner: ChunkScanner | null = null
  #unchunk = false
  status = 0
  /** Whether any byte came from the target. */
  received = false
  /** Whether bytes of the final response went to the client. */
  begun = false
  /** The response ends when the target closes. */
  untilClose = false
  /** Whether target and client keep their connections after this response. */
  keepAlive = false
  clientKeepAlive = false
  /** The client's connection must end after this response. */
  isLast = false

  constructor(request: RequestHead, maxHead: number) {
    this.#request = request
    this.#maxHead = maxHead
  }

  get isChunked(): boolean {
    return this.#scanner !== null
  }

  read(chunk: Buffer): Step {
    this.received = true
    if (this.begun) return this.#body(chunk, [])
    const isOurs = this.#buffered !== null
    let data = this.#buffered === null ? chunk : this.#joined.append(this.#buffered, chunk)
    this.#buffered = null
    const write: Buffer[] = []
    for (;;) {
      const { end, next } = endOfHead(data, this.#searched)
      if (end > this.#maxHead || (end < 0 && data.length > this.#maxHead)) return bad(write)
      if (end < 0) {
        // The next read may overwrite the chunk (`zeroCopy`).
        this.#buffered = isOurs ? data : Buffer.from(data)
        this.#searched = data.length
        return { write, state: 'more', rest: null }
      }
      this.#searched = 0
      this.#joined.clear()
      const { method, minor, upgrade } = this.#request
      const head = parseResponseHead(data.toString('latin1', 0, end), method, minor)
      if (head === null) return bad(write)
      if (head.status === 101) {
        if (!upgrade) return bad(write)
        this.begun = true
        write.push(Buffer.from(`${head.forward}Connection: Upgrade\r\n\r\n`, 'latin1'))
        return { write, state: 'switch', rest: next < data.length ? data.subarray(next) : null }
      }
      if (head.status < 200) {
        if (++this.#interim > MAX_INTERIM) return bad(write)
        if (minor === 1) write.push(Buffer.from(`${head.forward}\r\n`, 'latin1'))
        data = data.subarray(next)
        continue
      }
      return this.#final(head, data, { end, next }, write)
    }
  }

  #final(head: ResponseHead, data: Buffer, { end, next }: HeadEnd, write: Buffer[]): Step {
    this.status = head.status
    this.begun = true
    this.untilClose = head.framing.kind === 'close'
    this.keepAlive = head.keepAlive
    this.clientKeepAlive = this.#request.keepAlive && !this.untilClose && !this.isLast
    if (head.framing.kind === 'chunked') {
      this.#scanner = new ChunkScanner()
      this.#unchunk = this.#request.minor === 0
    } else if (head.framing.kind === 'length') this.#left = head.framing.length
    else if (head.framing.kind === 'none') this.#left = 0
    // The head needs no change, so it is passed on as it came.
    const isWhole = next - end === EMPTY_LINE
    if (head.isAsSent && isWhole && this.clientKeepAlive) return this.#body(data, write, next, 0)
    const text = `${head.forward}${this.clientKeepAlive ? '' : 'Connection: close\r\n'}\r\n`
    const body = this.#body(data, [], next)
    const first = body.write[0]
    if (first !== undefined && first.length <= COPY_LIMIT) {
      const joined = Buffer.allocUnsafe(text.length + first.length)
      joined.write(text, 0, 'latin1')
      first.copy(joined, text.length)
      body.write[0] = joined
    } else write.push(Buffer.from(text, 'latin1'))
    return { write: [...write, ...body.write], state: body.state, rest: body.rest }
  }

  /** Reads the body's bytes from `from` on, and writes those from `start` on to the client. */
  #body(chunk: Buffer, write: Buffer[], from = 0, start = from): Step {
    if (this.#scanner !== null) return this.#chunked(this.#scanner, chunk, write, from, start)
    const end = this.untilClose ? chunk.length : Math.min(chunk.length, from + this.#left)
    if (end > start) write.push(part(chunk, start, end))
    if (this.untilClose) return { write, state: 'more', rest: null }
    this.#left -= end - from
    return this.#left > 0 ? { write, state: 'more', rest: null } : { write, state: 'done', rest: behind(chunk, end) }
  }

  #chunked(scanner: ChunkScanner, chunk: Buffer, write: Buffer[], from: number, start: number): Step {
    const { scan, payload } = this.#unchunk
      ? scanPayload(scanner, chunk, from)
      : { scan: scanner.scan(chunk, from, passed), payload: null }
    if (payload !== null && payload.length > 0) write.push(payload)
    if (!scan.ok) return bad(write)
    const end = from + scan.used
    if (payload === null && end > start) write.push(part(chunk, start, end))
    return { write, state: scan.done ? 'done' : 'more', rest: behind(chunk, end) }
  }
}

const passed = (): void => {}

const part = (chunk: Buffer, start: number, end: number): Buffer =>
  start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end)

const behind = (chunk: Buffer, end: number): Buffer | null => (end < chunk.length ? chunk.subarray(end) : null)

type HeadEnd = { end: number; next: number }

/** Where a head ends and the rest begins; -1: incomplete. Some targets end lines with a bare line feed. */
function endOfHead(data: Buffer, searched: number): HeadEnd {
  const from = Math.max(0, searched - emptyLine.length + 1)
  const last = data.indexOf(emptyLine, from)
  const bare = (last < 0 ? data : data.subarray(0, last + 1)).indexOf(bareEmptyLine, from)
  if (bare >= 0) return { end: data[bare - 1] === 13 ? bare - 1 : bare, next: bare + 2 }
  return { end: last > 0 && data[last - 1] === 13 ? last - 1 : last, next: last + 3 }
}

const bad = (write: Buffer[]): Step => ({ write, state: 'bad', rest: null })
