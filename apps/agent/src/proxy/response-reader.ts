import { ChunkScanner, scanPayload } from './chunked-body.ts'
import { fieldName, fieldValue, tokensOf } from './field-names.ts'
import { JoinedPieces } from './head-buffer.ts'
import { type Framing, MAX_HEAD_LINES, MAX_LISTED, type RequestHead, lineEnd } from './request-head.ts'

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

/** A parsed response head. */
type ResponseHead = {
  status: number
  framing: Framing
  /** Whether the target keeps its connection open after the response. */
  keepAlive: boolean
  /** Status line and end-to-end headers, each with its line end, without a Connection header and the final empty line. */
  forward: string
  /** Whether `forward` equals what the target sent. */
  isAsSent: boolean
}

// Control characters, and carriage returns that are not part of a line end.
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/
const BARE_LF = /\n(?<!\r\n)/
// Radio streams answer with ICY, and otherwise speak HTTP/1.0.
const STATUS_LINE = /^(HTTP\/1\.[01]|ICY) ([1-9]\d\d)(?: |$)/
/** Kept even if `Connection` lists them: they define where the message ends, or are not fields. */
const neverOmitted = new Set(['close', 'keep-alive', 'upgrade', 'content-length', 'transfer-encoding'])
const DIGITS = /^\d{1,15}$/

/**
 * Parses a response head (latin1, without its final empty line). Null: malformed, or contradictory about its length. `method`
 * decides whether a body follows; `minor` is the client's version of HTTP/1, because 1.0 has no chunks. As RFC 9112 asks of a
 * proxy, it corrects what browsers accept: bare line feeds (2.2), folded lines (5.2), blanks before a colon (5.1), a repeated
 * length (6.3).
 */
export function parseResponseHead(received: string, method: string, minor: 0 | 1): ResponseHead | null {
  if (hasTooManyLines(received) || forbidden.test(received)) return null
  const text = unfold(BARE_LF.test(received) ? received.replace(/\r?\n/g, '\r\n') : received)
  const firstEnd = lineEnd(text, 0)
  const line0 = text.slice(0, firstEnd)
  const start = STATUS_LINE.exec(line0)
  if (start === null || text.endsWith('\r\n')) return null
  const status = Number(start[2])
  let length = -1
  let chunked = false
  let connection = ''
  let listed = 0
  // Unchanged lines are copied in runs.
  let fields = ''
  let run = firstEnd + 2
  for (let end = firstEnd; end + 2 < text.length;) {
    const at = end + 2
    end = lineEnd(text, at)
    const line = text.slice(at, end)
    const colon = line.indexOf(':')
    const spelled = line.slice(0, Math.max(0, colon))
    const name = spelled.endsWith(' ') || spelled.endsWith('\t') ? spelled.trimEnd() : spelled
    const field = fieldName(name)
    if (field === null) return null
    let mended = name === spelled ? line : name + line.slice(colon)
    switch (field.lower) {
      case 'content-length': {
        const known = length
        if ((listed += line.length) > MAX_LISTED) return null
        const values = tokensOf(fieldValue(line, colon))
        for (const value of values) {
          if (!DIGITS.test(value) || (length >= 0 && length !== Number(value))) return null
          length = Number(value)
        }
        if (length < 0) return null
        if (known >= 0) mended = ''
        else if (values.length > 1) mended = `${name}: ${length}`
        break
      }
      case 'transfer-encoding':
        switch (fieldValue(line, colon).toLowerCase()) {
          case 'chunked':
            if (chunked) return null
            chunked = true
            if (minor === 0) mended = ''
            break
          // Old servers send this for a body without encoding (RFC 2616 3.6).
          case 'identity':
            mended = ''
            break
          default:
            return null
        }
        break
      case 'connection':
        if ((listed += line.length) > MAX_LISTED) return null
        connection += `,${line.slice(colon + 1).toLowerCase()}`
        mended = ''
        break
      case 'keep-alive':
      case 'proxy-connection':
      case 'proxy-authenticate':
      case 'proxy-authentication-info':
      case 'trailer':
      case 'upgrade':
        if (status !== 101) mended = ''
        break
      default:
    }
    if (mended === line) continue
    fields += text.slice(run, at)
    if (mended !== '') fields += `${mended}\r\n`
    run = end + 2
  }
  const isWhole = fields === '' && run === firstEnd + 2
  if (run < text.length) fields += `${text.slice(run)}\r\n`
  const tokens = tokensOf(connection)
  const omitted = new Set(tokens.filter(part => part !== '' && !neverOmitted.has(part)))
  // An encoding overrides a length (RFC 9112 6.3), but the target gets no further request.
  const both = chunked && length >= 0
  if (both) omitted.add('content-length')
  const bodiless = method === 'HEAD' || status === 204 || status === 304 || status < 200
  let framing: Framing
  if (bodiless) framing = { kind: 'none' }
  else if (chunked) framing = { kind: 'chunked' }
  else if (length >= 0) framing = length === 0 ? { kind: 'none' } : { kind: 'length', length }
  else framing = { kind: 'close' }
  if (chunked && bodiless) omitted.add('transfer-encoding')
  if (omitted.size > 0) fields = without(fields, omitted)
  const isNew = start[1] === 'HTTP/1.1'
  const close = tokens.includes('close') || (!isNew && !tokens.includes('keep-alive'))
  const keepAlive = !close && !both && framing.kind !== 'close'
  const forward = isNew ? `${line0}\r\n${fields}` : `HTTP/1.1${line0.slice(line0.indexOf(' '))}\r\n${fields}`
  return {
    status,
    framing,
    keepAlive,
    forward,
    isAsSent: isWhole && omitted.size === 0 && isNew && text === received
  }
}

/** Whether a head has too many lines, folded ones included, because correcting each takes time. */
function hasTooManyLines(text: string): boolean {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) if (++lines > MAX_HEAD_LINES) return true
  return false
}

const without = (fields: string, omitted: ReadonlySet<string>): string =>
  fields
    .split('\r\n')
    .filter(line => line !== '' && !omitted.has(line.slice(0, line.indexOf(':')).toLowerCase()))
    .map(line => `${line}\r\n`)
    .join('')

/** A line that begins with a blank continues the previous one. */
const unfold = (text: string): string =>
  text.includes('\r\n ') || text.includes('\r\n\t') ? text.replace(/\r\n[ \t]+/g, ' ') : text
