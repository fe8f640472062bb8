import { fieldName, fieldValue, tokensOf } from './field-names.ts'
import { type Framing, lineEnd, MAX_HEAD_LINES, MAX_LISTED } from './request-head.ts'

/** A parsed response head. */
export type ResponseHead = {
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
