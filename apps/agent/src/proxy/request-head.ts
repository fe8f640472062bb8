import { fieldName, fieldValue, tokensOf } from './field-names.ts'

/** How a message body is delimited. */
export type Framing = { kind: 'none' } | { kind: 'length'; length: number } | { kind: 'chunked' } | { kind: 'close' }

/** Target of a request. */
export type Authority = {
  /** As written in the request. */
  text: string
  /** Lower case, without trailing dot, IPv6 without brackets. */
  host: string
  port: number
  /** `host:port`. */
  key: string
}

/** A parsed request to the proxy. `forward` is the head for the target. */
export type RequestHead = {
  method: string
  connect: boolean
  to: Authority
  /** Raw value of Proxy-Authorization, or empty. */
  credentials: string
  /** Minor version of HTTP/1. */
  minor: 0 | 1
  keepAlive: boolean
  upgrade: boolean
  framing: Framing
  forward: string
}

export type HeadResult = { ok: true; head: RequestHead } | { ok: false; reason: string }

const bad = (reason: string): HeadResult => ({ ok: false, reason })
/** Lines of a head. A line costs its sender four bytes, and the loop some microseconds. */
export const MAX_HEAD_LINES = 500
/** Total length of lists that are parsed, such as `Connection`. */
export const MAX_LISTED = 1024
const NO_BODY: Framing = { kind: 'none' }

const method = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/
const usualMethods = new Set(['CONNECT', 'GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'DELETE', 'PATCH'])
// Allowed besides line ends: tab, visible ASCII, and higher bytes, which occur in real names and paths.
// oxlint-disable-next-line no-control-regex
const forbidden = /[^\t\x20-\x7e\x80-\xff\r\n]|\r(?!\n)|\n(?<!\r\n)/
// Some WebSocket clients send a ws:// address instead of CONNECT. The target gets the same request.
const PLAIN_SCHEME = /^(?:http|ws):\/\//i
const HIDES_NAMES = /\b(?:h2c\b|tls\/)/i
const HOST_TEXT = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?$/
const V6_TEXT = /^[0-9A-Fa-f:.]{2,45}$/

const retriable = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a repeated request does no harm: it has no body, and its method changes nothing at the target. */
export const isRetriable = (head: RequestHead): boolean => head.framing.kind === 'none' && retriable.has(head.method)

/** Parses `host`, `host:port` or `[v6]:port`. Null: malformed. A `defaultPort` of 0 requires a port. */
export function parseAuthority(text: string, defaultPort: number): { host: string; port: number } | null {
  let host = text
  let portText = ''
  if (text.startsWith('[')) {
    const close = text.indexOf(']')
    if (close < 0) return null
    host = text.slice(1, close)
    const rest = text.slice(close + 1)
    if (rest !== '' && !rest.startsWith(':')) return null
    portText = rest.slice(1)
    if (!V6_TEXT.test(host) || !host.includes(':')) return null
  } else {
    const colon = text.indexOf(':')
    if (colon >= 0) {
      host = text.slice(0, colon)
      portText = text.slice(colon + 1)
    }
    if (host.length > 253 || !HOST_TEXT.test(host) || host.includes('..')) return null
    if (host.endsWith('.')) host = host.slice(0, -1)
  }
  if (portText === '') return defaultPort === 0 ? null : { host: host.toLowerCase(), port: defaultPort }
  if (!/^\d{1,5}$/.test(portText)) return null
  const port = Number(portText)
  return port > 0 && port < 65_536 ? { host: host.toLowerCase(), port } : null
}

/** Kept even if `Connection` lists them, because dropping them would change the request's meaning. */
const neverDropped = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'authorization',
  'cookie',
  'connection',
  'close',
  'keep-alive',
  'upgrade'
])

/** Where the path of an absolute address begins; its end if there is none. */
function pathStart(address: string, from: number): number {
  for (let at = from; at < address.length; at++) {
    const code = address.charCodeAt(at)
    // `/`, `?`, `#`
    if (code === 47 || code === 63 || code === 35) return at
  }
  return address.length
}

function readAuthority(text: string, defaultPort: number): Authority | null {
  const to = parseAuthority(text, defaultPort)
  return to === null ? null : { text, host: to.host, port: to.port, key: `${to.host}:${to.port}` }
}

/**
 * Parses a request head (latin1, without its final empty line). It refuses everything that two parsers could read differently:
 * two lengths, a length beside an encoding, folded lines, a bare CR or LF, a space before the colon. `known`: the previous
 * request's target, which most requests of a connection share.
 */
export function parseRequestHead(text: string, known: Authority | null = null): HeadResult {
  if (forbidden.test(text)) return bad('Malformed line ends or control characters')
  const firstEnd = lineEnd(text, 0)
  const verbEnd = text.indexOf(' ')
  const targetEnd = text.indexOf(' ', verbEnd + 1)
  if (verbEnd < 0 || targetEnd < 0 || targetEnd > firstEnd) return bad('Malformed request line')
  const verb = text.slice(0, verbEnd)
  const target = text.slice(verbEnd + 1, targetEnd)
  const version = text.slice(targetEnd + 1, firstEnd)
  if (!usualMethods.has(verb) && !method.test(verb)) return bad('Malformed request line')
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0')
    return bad(version.includes(' ') ? 'Malformed request line' : 'This proxy supports only HTTP/1.0 and HTTP/1.1')
  const minor = version === 'HTTP/1.1' ? 1 : 0
  const connect = verb === 'CONNECT'
  let authority = target
  let path = ''
  if (!connect) {
    const scheme = target.startsWith('http://') ? 7 : PLAIN_SCHEME.exec(target)?.[0].length
    if (scheme === undefined) return bad('This is a proxy: send an absolute http:// address, or CONNECT')
    const start = pathStart(target, scheme)
    authority = target.slice(scheme, start)
    // OPTIONS for an address without a path concerns the whole server (RFC 9112 3.2.4).
    path = start < target.length ? target.slice(start) : verb === 'OPTIONS' ? '*' : '/'
    if (path.includes('#')) return bad('Malformed request address')
    if (path.startsWith('?')) path = `/${path}`
  }
  const isKnown = !connect && known !== null && known.text === authority
  const to = isKnown ? known : readAuthority(authority, connect ? 0 : 80)
  if (to === null) return bad('Malformed request address')

  let credentials = ''
  let length = -1
  let chunked = false
  let upgrade = ''
  let connection = ''
  let connectionText = ''
  let connectionSeen = false
  let proxyConnection = ''
  let hostSeen = false
  let lines = 0
  // Unchanged lines are copied in runs: `before` holds those before the place of `Connection`, `fields` those after it.
  let before = ''
  let fields = ''
  let run = firstEnd + 2
  for (let end = firstEnd; end < text.length;) {
    const at = end + 2
    end = lineEnd(text, at)
    const line = text.slice(at, end)
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    if (++lines > MAX_HEAD_LINES) return bad('Too many header lines')
    const field = fieldName(name)
    if (field === null) return bad('Malformed header line')
    switch (field.lower) {
      case 'host':
        if (hostSeen) return bad('Two Host headers')
        hostSeen = true
        if (line.length === colon + 2 + authority.length && line[colon + 1] === ' ' && line.endsWith(authority))
          continue
        fields += `${text.slice(run, at)}${name}: ${authority}\r\n`
        run = end + 2
        continue
      case 'content-length': {
        const value = fieldValue(line, colon)
        if (length >= 0 || !/^\d{1,15}$/.test(value)) return bad('Malformed or repeated Content-Length')
        length = Number(value)
        continue
      }
      case 'transfer-encoding':
        if (chunked || fieldValue(line, colon).toLowerCase() !== 'chunked') return bad('Unknown Transfer-Encoding')
        chunked = true
        continue
      case 'connection':
        connection += `,${line.slice(colon + 1).toLowerCase()}`
        if (connection.length > MAX_LISTED) return bad('The Connection header is too long')
        connectionText = connectionSeen ? '' : fieldValue(line, colon)
        break
      case 'proxy-connection':
        proxyConnection = fieldValue(line, colon)
        break
      case 'proxy-authorization':
        if (credentials !== '') return bad('Two Proxy-Authorization headers')
        credentials = fieldValue(line, colon)
        fields += text.slice(run, at)
        run = end + 2
        continue
      case 'upgrade':
        upgrade = line
        continue
      default:
        if (!field.isDropped) continue
        fields += text.slice(run, at)
        run = end + 2
        continue
    }
    fields += text.slice(run, at)
    run = end + 2
    // `Connection` keeps its place, so that the target sees the order of a direct client.
    if (!connectionSeen) {
      before = fields
      fields = ''
    }
    connectionSeen = true
  }
  if (chunked && (length >= 0 || minor === 0)) return bad('Transfer-Encoding is not allowed here')
  if (connect && (chunked || length > 0)) return bad('A CONNECT request has no body')
  const tokens = tokensOf(connection)
  const close = minor === 0 || tokens.includes('close') || proxyConnection.toLowerCase() === 'close'
  const keepAlive = !close
  // An upgrade that would hide the names of later requests is dropped. The client continues without it.
  const upgradeAsked = upgrade !== '' && minor === 1 && tokens.includes('upgrade') && !HIDES_NAMES.test(upgrade)
  let forward = ''
  if (!connect) {
    // A set, because a head may list thousands of names.
    const named = new Set(tokens.filter(part => part !== '' && !neverDropped.has(part)))
    // If nothing was dropped, the client's own text is kept, so that the target sees what a direct client sends.
    const plain = named.size === 0 && minor === 1 && (upgradeAsked || !tokens.includes('upgrade'))
    const rewritten = close ? 'close' : upgradeAsked ? 'Upgrade' : 'keep-alive'
    const said = plain ? connectionText || proxyConnection || rewritten : rewritten
    const connectionLine = connectionSeen ? `Connection: ${said}\r\n` : ''
    forward = `${verb} ${path} ${version}\r\n`
    if (named.size > 0 || upgrade !== '') {
      const fieldLines = text.slice(firstEnd + 2).split('\r\n')
      forward += sorted(fieldLines, authority, named, connectionLine, upgradeAsked ? `${upgrade}\r\n` : '')
    } else {
      if (run < text.length) fields += `${text.slice(run)}\r\n`
      forward += before + connectionLine + fields
    }
    if (!hostSeen) forward += `Host: ${authority}\r\n`
    if (!connectionSeen && !keepAlive && minor === 1) forward += 'Connection: close\r\n'
    forward += '\r\n'
  }
  const framing: Framing = chunked ? { kind: 'chunked' } : length > 0 ? { kind: 'length', length } : NO_BODY
  const head = {
    method: verb,
    connect,
    to,
    credentials,
    minor,
    keepAlive,
    upgrade: upgradeAsked,
    framing,
    forward
  } as const
  return { ok: true, head }
}

/** End of the line that contains `from`. */
export function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from)
  return end < 0 ? text.length : end
}

/** The target's header lines, one by one, without those that the client listed in `Connection`. */
function sorted(
  lines: readonly string[],
  authority: string,
  named: ReadonlySet<string>,
  connectionLine: string,
  upgradeLine: string
): string {
  const seen = new Set<string>()
  let fields = ''
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':'))
    const { lower, isDropped } = fieldName(name) ?? { lower: '', isDropped: true }
    const kind = lower === 'proxy-connection' ? 'connection' : lower
    if (kind === 'connection' || kind === 'upgrade') {
      if (!seen.has(kind)) fields += kind === 'upgrade' ? upgradeLine : connectionLine
      seen.add(kind)
    } else if (kind === 'host') fields += `${name}: ${authority}\r\n`
    else if (!isDropped && !named.has(lower)) fields += `${line}\r\n`
  }
  return fields
}

/** User and password of a `Basic` value, or null. Both are bytes (latin1), as in the comparison. */
export function parseBasic(value: string): { user: string; password: string } | null {
  if (value.length < 7 || value.slice(0, 6).toLowerCase() !== 'basic ') return null
  const text = Buffer.from(value.slice(6).trim(), 'base64').toString('latin1')
  const colon = text.indexOf(':')
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
