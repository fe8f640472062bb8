/** A header field's lower-case name, and whether the proxy drops it from requests. */
export type FieldName = { lower: string; isDropped: boolean }

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Headers for the proxy or about it, in addition to `proxy-…`. */
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

const read = (name: string): FieldName => {
  const lower = name.toLowerCase()
  return { lower, isDropped: dropped.has(lower) || lower.startsWith('proxy-') }
}

/** Common names, in a map. Other names are checked by the regular expression, which is slower. */
const usualNames = `Accept Accept-CH Accept-Charset Accept-Encoding Accept-Language Accept-Ranges Access-Control-Allow-Credentials
Access-Control-Allow-Headers Access-Control-Allow-Methods Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age
Age Allow Alt-Svc Authorization Cache-Control CF-Cache-Status CF-RAY Connection Content-Disposition Content-Encoding Content-Language
Content-Length Content-Location Content-Range Content-Security-Policy Content-Type Cookie Date DNT ETag Expect Expires From Host
If-Match If-Modified-Since If-None-Match If-Range If-Unmodified-Since Keep-Alive Last-Modified Link Location NEL Origin P3P
Permissions-Policy Pragma Priority Proxy-Authorization Proxy-Connection Range Referer Referrer-Policy Report-To Retry-After
Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Sec-GPC
Sec-WebSocket-Accept Sec-WebSocket-Extensions Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version Server Server-Timing
Set-Cookie Strict-Transport-Security Timing-Allow-Origin Trailer Transfer-Encoding Upgrade Upgrade-Insecure-Requests User-Agent Vary
Via WWW-Authenticate X-Cache X-Content-Type-Options X-Frame-Options X-Powered-By X-Request-ID X-Requested-With X-XSS-Protection`
const usual: ReadonlyMap<string, FieldName> = new Map(
  usualNames.split(/\s+/).flatMap(name => [name, name.toLowerCase()].map(spelled => [spelled, read(name)] as const))
)

/** Parses a field name. Null: invalid. */
export function fieldName(name: string): FieldName | null {
  return usual.get(name) ?? (token.test(name) ? read(name) : null)
}

const isBlank = (code: number): boolean => code === 32 || code === 9

/** The value after the colon, without blanks around it. Only space and tab are blanks; other Unicode spaces belong to it. */
export function fieldValue(line: string, colon: number): string {
  let first = colon + 1
  let end = line.length
  while (first < end && isBlank(line.charCodeAt(first))) first++
  while (end > first && isBlank(line.charCodeAt(end - 1))) end--
  return line.slice(first, end)
}

export const tokensOf = (list: string): string[] =>
  list === '' ? [] : list.split(',').map(part => fieldValue(part, -1))
