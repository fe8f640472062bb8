/** How a message body is delimited. */
export type Framing = { kind: 'none' } | { kind: 'length'; length: number } | { kind: 'chunked' } | { kind: 'close' }

/** A request to the proxy, read once; `forward` is the head that the target gets. */
export type RequestHead = {
  method: string
  connect: boolean
  /** Lower-case host without trailing dot, IPv6 without brackets. */
  host: string
  port: number
  /** The raw value of Proxy-Authorization, '' where there is none. */
  credentials: string
  /** 0 or 1: the minor version of HTTP/1. */
  minor: 0 | 1
  keepAlive: boolean
  upgrade: boolean
  framing: Framing
  forward: string
}

export type HeadResult = { ok: true; head: RequestHead } | { ok: false; reason: string }

const bad = (reason: string): HeadResult => ({ ok: false, reason })
const NO_BODY: Framing = { kind: 'none' }

const method = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// What may be in a head besides line ends: tab, visible ASCII, and bytes above it (names and paths in the wild).
// oxlint-disable-next-line no-control-regex
const forbidden = /[^\t\x20-\x7e\x80-\xff\r\n]/
const BARE_LINE_END = /\r(?!\n)|(?<!\r)\n/
// Some WebSocket clients ask a proxy for ws:// instead of a tunnel: the target gets the same request.
const PLAIN_SCHEME = /^(?:http|ws):\/\//i
const HOST_TEXT = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?\.?$/
const V6_TEXT = /^[0-9A-Fa-f:.]{2,45}$/

const retriable = new Set(['GET', 'HEAD', 'OPTIONS'])

/** May it be sent to its target a second time? Where it has no body and changes nothing there. */
export const isRetriable = (head: RequestHead): boolean => head.framing.kind === 'none' && retriable.has(head.method)

/** Reads `host`, `host:port`, `[v6]:port`. */
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

/** Headers that speak to the proxy or tell of it, beside whatever starts with `proxy-`. */
const dropped = new Set([
  'keep-alive',
  'te',
  'trailer',
  'via',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip'
])
/** Named in `Connection`, these would change what the request means: they stay. */
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

const isBlank = (code: number): boolean => code === 32 || code === 9

/** What stands behind the colon, without blanks around it. What else is a space to Unicode is a byte of the value here. */
export function fieldValue(line: string, colon: number): string {
  let first = colon + 1
  let end = line.length
  while (first < end && isBlank(line.charCodeAt(first))) first++
  while (end > first && isBlank(line.charCodeAt(end - 1))) end--
  return line.slice(first, end)
}

/** The parts of a comma-separated list. */
export const tokensOf = (list: string): string[] =>
  list === '' ? [] : list.split(',').map(part => fieldValue(part, -1))

/**
 * Reads a request head (without its final empty line, as latin1). Anything that two parsers could read differently is
 * refused: two lengths, a length beside an encoding, folded lines, a bare CR or LF, a space before the colon.
 */
export function parseRequestHead(text: string): HeadResult {
  if (forbidden.test(text) || BARE_LINE_END.test(text)) return bad('Malformed line ends or control characters')
  const lines = text.split('\r\n')
  const first = (lines[0] ?? '').split(' ')
  const [verb = '', target = '', version = ''] = first
  if (first.length !== 3 || !method.test(verb)) return bad('Malformed request line')
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') return bad('Only HTTP/1.0 and HTTP/1.1 are spoken here')
  const minor = version === 'HTTP/1.1' ? 1 : 0
  const connect = verb === 'CONNECT'
  let authority = target
  let path = ''
  if (!connect) {
    const scheme = PLAIN_SCHEME.exec(target)?.[0].length
    if (scheme === undefined) return bad('This is a proxy: send an absolute http:// address, or CONNECT')
    const end = target.slice(scheme).search(/[/?#]/)
    authority = end < 0 ? target.slice(scheme) : target.slice(scheme, scheme + end)
    // An OPTIONS request for an address without a path is for the server as a whole (RFC 9112 3.2.4).
    path = end >= 0 ? target.slice(scheme + end) : verb === 'OPTIONS' ? '*' : '/'
    if (path.includes('#')) return bad('Malformed request address')
    if (path.startsWith('?')) path = `/${path}`
  }
  const to = parseAuthority(authority, connect ? 0 : 80)
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
  const kept: string[] = []
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const colon = line.indexOf(':')
    const name = line.slice(0, colon < 0 ? 0 : colon)
    if (!token.test(name)) return bad('Malformed header line')
    const lower = name.toLowerCase()
    switch (lower) {
      case 'host':
        if (hostSeen) return bad('Two Host headers')
        hostSeen = true
        kept.push(`${name}: ${authority}`)
        continue
      case 'content-length': {
        const value = fieldValue(line, colon)
        if (length >= 0 || !/^\d{1,15}$/.test(value)) return bad('Malformed or repeated Content-Length')
        length = Number(value)
        break
      }
      case 'transfer-encoding':
        if (chunked || fieldValue(line, colon).toLowerCase() !== 'chunked') return bad('Unknown Transfer-Encoding')
        chunked = true
        break
      case 'connection':
        connection += `,${line.slice(colon + 1).toLowerCase()}`
        connectionText = connectionSeen ? '' : fieldValue(line, colon)
        // Its place is kept, so that the target sees the order that a direct client has.
        if (!connectionSeen) kept.push('connection')
        connectionSeen = true
        continue
      case 'proxy-connection':
        proxyConnection = fieldValue(line, colon)
        if (!connectionSeen) kept.push('connection')
        connectionSeen = true
        continue
      case 'proxy-authorization':
        if (credentials !== '') return bad('Two Proxy-Authorization headers')
        credentials = fieldValue(line, colon)
        continue
      case 'upgrade':
        upgrade = line
        kept.push('upgrade')
        continue
      default:
        if (dropped.has(lower) || lower.startsWith('proxy-')) continue
    }
    kept.push(line)
  }
  if (chunked && (length >= 0 || minor === 0)) return bad('Transfer-Encoding where it cannot stand')
  if (connect && (chunked || length > 0)) return bad('A CONNECT request has no body')
  const tokens = tokensOf(connection)
  const named = tokens.filter(part => part !== '' && !neverDropped.has(part))
  const close = minor === 0 || tokens.includes('close') || proxyConnection.toLowerCase() === 'close'
  const keepAlive = !close
  const upgradeAsked = upgrade !== '' && minor === 1 && tokens.includes('upgrade')
  let forward = ''
  if (!connect) {
    forward = `${verb} ${path} ${version}\r\n`
    // What the client said, word by word where nothing was taken out of it: the target sees what a direct client sends.
    const plain = named.length === 0 && minor === 1 && (upgradeAsked || !tokens.includes('upgrade'))
    const rewritten = close ? 'close' : upgradeAsked ? 'Upgrade' : 'keep-alive'
    const said = plain ? connectionText || proxyConnection || rewritten : rewritten
    const seen = new Set<string>()
    for (const line of kept) {
      let out = line
      if (line === 'connection') out = seen.has(line) ? '' : `Connection: ${said}`
      else if (line === 'upgrade') out = upgradeAsked && !seen.has(line) ? upgrade : ''
      else if (named.length > 0 && named.includes(line.slice(0, line.indexOf(':')).toLowerCase())) out = ''
      seen.add(line)
      if (out !== '') forward += `${out}\r\n`
    }
    if (!hostSeen) forward += `Host: ${authority}\r\n`
    if (!connectionSeen && !keepAlive && minor === 1) forward += 'Connection: close\r\n'
    forward += '\r\n'
  }
  const framing: Framing = chunked ? { kind: 'chunked' } : length > 0 ? { kind: 'length', length } : NO_BODY
  return {
    ok: true,
    head: {
      method: verb,
      connect,
      host: to.host,
      port: to.port,
      credentials,
      minor,
      keepAlive,
      upgrade: upgradeAsked,
      framing,
      forward
    }
  }
}

/** User and password of a `Basic` value, or null. Both are taken as bytes (latin1), as they are compared. */
export function parseBasic(value: string): { user: string; password: string } | null {
  if (value.length < 7 || value.slice(0, 6).toLowerCase() !== 'basic ') return null
  const text = Buffer.from(value.slice(6).trim(), 'base64').toString('latin1')
  const colon = text.indexOf(':')
  return colon < 0 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
