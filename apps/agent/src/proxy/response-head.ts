import { fieldValue, type Framing, tokensOf } from './request-head.ts'

/** A response of a target; `forward` is the head that the client gets, without the final empty line's sibling headers. */
export type ResponseHead = {
  status: number
  framing: Framing
  /** Whether the target keeps its connection open afterwards. */
  keepAlive: boolean
  /** Status line and end-to-end headers, each with its line end; no Connection header, no empty line. */
  forward: string
}

// oxlint-disable-next-line no-control-regex
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/
const BARE_LF = /(?<!\r)\n/
const BARE_CR = /\r(?!\n)/
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * Reads a response head (without its final empty line, as latin1); null where it is not one, or says two things about
 * its length. `method` decides whether a body follows. What every browser reads is written properly for the client, as
 * RFC 9112 asks of a proxy: bare line feeds (2.2), folded lines (5.2), blanks before a colon (5.1), a length that is
 * repeated (6.3).
 */
export function parseResponseHead(received: string, method: string): ResponseHead | null {
  if (forbidden.test(received) || BARE_CR.test(received)) return null
  const text = unfold(BARE_LF.test(received) ? received.replace(/\r?\n/g, '\r\n') : received)
  const firstEnd = text.indexOf('\r\n')
  const line0 = firstEnd < 0 ? text : text.slice(0, firstEnd)
  const start = STATUS_LINE.exec(line0)
  if (start === null) return null
  const status = Number(start[2])
  const minor = start[1] === '1' ? 1 : 0
  let length = -1
  let chunked = false
  let connection = ''
  let lengthLine = ''
  const kept: string[] = []
  let at = firstEnd < 0 ? text.length : firstEnd + 2
  while (at < text.length) {
    const end = text.indexOf('\r\n', at)
    let line = end < 0 ? text.slice(at) : text.slice(at, end)
    at = end < 0 ? text.length : end + 2
    let colon = line.indexOf(':')
    let name = line.slice(0, colon < 0 ? 0 : colon)
    if (name.endsWith(' ') || name.endsWith('\t')) {
      name = name.trimEnd()
      line = name + line.slice(colon)
      colon = name.length
    }
    if (!token.test(name)) return null
    switch (name.toLowerCase()) {
      case 'content-length': {
        for (const value of tokensOf(fieldValue(line, colon))) {
          if (!/^\d{1,15}$/.test(value) || (length >= 0 && length !== Number(value))) return null
          length = Number(value)
          lengthLine = `${name}: ${value}\r\n`
        }
        if (length < 0) return null
        continue
      }
      case 'transfer-encoding':
        if (chunked || fieldValue(line, colon).toLowerCase() !== 'chunked') return null
        chunked = true
        continue
      case 'connection':
        connection += `,${line.slice(colon + 1).toLowerCase()}`
        continue
      case 'keep-alive':
      case 'proxy-connection':
      case 'proxy-authenticate':
      case 'proxy-authentication-info':
      case 'trailer':
      case 'upgrade':
        if (status === 101) break
        continue
    }
    kept.push(line)
  }
  const tokens = tokensOf(connection)
  const named = tokens.filter(part => part !== '' && part !== 'close' && part !== 'keep-alive' && part !== 'upgrade')
  let forward = `HTTP/1.1${line0.slice(8)}\r\n`
  for (const line of kept) {
    if (named.length > 0 && named.includes(line.slice(0, line.indexOf(':')).toLowerCase())) continue
    forward += `${line}\r\n`
  }
  const bodiless = method === 'HEAD' || status === 204 || status === 304 || status < 200
  let framing: Framing
  if (bodiless) framing = { kind: 'none' }
  else if (chunked) framing = { kind: 'chunked' }
  else if (length >= 0) framing = length === 0 ? { kind: 'none' } : { kind: 'length', length }
  else framing = { kind: 'close' }
  // A length beside an encoding is the encoding's (RFC 9112 6.3), and such a target is not trusted with another request.
  if (!chunked) forward += lengthLine
  const both = chunked && length >= 0
  const close = tokens.includes('close') || (minor === 0 && !tokens.includes('keep-alive'))
  return { status, framing, keepAlive: !close && !both && framing.kind !== 'close', forward }
}

/** Lines that begin with a blank belong to the one before. */
const unfold = (text: string): string =>
  text.includes('\r\n ') || text.includes('\r\n\t') ? text.replace(/\r\n[ \t]+/g, ' ') : text
