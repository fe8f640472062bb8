import type { Proxy } from '@netlet/contract'
import { hostPort } from '../../kit/host-port.ts'

/** What a program needs to use a proxy. */
export type Credentials = Pick<Proxy, 'ip' | 'port' | 'username' | 'password'> & Partial<Pick<Proxy, 'https'>>

/** Formats for other programs; `template` is the customer's own pattern. */
export const FORMATS = ['line', 'at', 'http', 'https', 'socks5', 'csv', 'json', 'template'] as const
export type Format = (typeof FORMATS)[number]
export type FormatChoice = { format: Format; template: string }

export const DEFAULT_TEMPLATE = '{ip}:{port}:{user}:{pass}'
/** Characters. */
export const MAX_TEMPLATE = 500

/** Escapes a user or password for a URL that may itself be quoted. */
export const urlPart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

export const proxyUrl = (scheme: 'http' | 'socks5', { ip, port, username, password }: Credentials): string =>
  `${scheme}://${urlPart(username)}:${urlPart(password)}@${hostPort(ip, port)}`

/** The URL with the name in the server's certificate; null if no name leads to the proxy or its server has no TLS. */
export function httpsUrl({ port, username, password, https }: Credentials): string | null {
  return https?.leads ? `https://${urlPart(username)}:${urlPart(password)}@${hostPort(https.host, port)}` : null
}

/** A CSV cell. Text that a spreadsheet would evaluate gets a leading apostrophe, as in the server's files. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Fills in a template's placeholders; unknown ones stay. @param n the proxy's number, from 1 */
export function fillTemplate(template: string, { ip, port, username, password }: Credentials, n: number): string {
  const values = new Map([
    ['ip', ip],
    ['host', ip.includes(':') ? `[${ip}]` : ip],
    ['port', String(port)],
    ['user', username],
    ['pass', password],
    ['n', String(n)]
  ])
  return template.replace(/\{(\w+)\}/g, (blank, name: string) => values.get(name) ?? blank)
}

const lines: Record<Exclude<Format, 'https' | 'csv' | 'json' | 'template'>, (proxy: Credentials) => string> = {
  line: ({ ip, port, username, password }) => `${hostPort(ip, port)}:${username}:${password}`,
  at: ({ ip, port, username, password }) => `${username}:${password}@${hostPort(ip, port)}`,
  http: proxy => proxyUrl('http', proxy),
  socks5: proxy => proxyUrl('socks5', proxy)
}

/** Proxies as text, without a final line break. */
export function formatProxies(proxies: readonly Credentials[], { format, template }: FormatChoice): string {
  if (format === 'json')
    return JSON.stringify(
      proxies.map(({ ip, port, username, password }) => ({ ip, port, username, password })),
      null,
      2
    )
  if (format === 'csv')
    return [
      'ip,port,username,password',
      ...proxies.map(({ ip, port, username, password }) =>
        [ip, String(port), username, password].map(csvCell).join(',')
      )
    ].join('\r\n')
  if (format === 'template') {
    const pattern = template.trim() === '' ? DEFAULT_TEMPLATE : template
    return proxies.map((proxy, index) => fillTemplate(pattern, proxy, index + 1)).join('\n')
  }
  // Skip proxies without TLS.
  if (format === 'https') return proxies.flatMap(proxy => httpsUrl(proxy) ?? []).join('\n')
  return proxies.map(lines[format]).join('\n')
}

/** Parses `ip:port:user:password`, with IPv6 in brackets; null if it is invalid. */
export function proxyOfLine(line: string): Credentials | null {
  const [, bracketed, plain, port, username, password] =
    /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5}):([^:]*):(.*)$/.exec(line) ?? []
  const ip = bracketed ?? plain
  if (ip === undefined || port === undefined || username === undefined || password === undefined) return null
  return { ip, port: Number(port), username, password }
}

const KINDS: Partial<Record<Format, { ending: string; type: string }>> = {
  csv: { ending: 'csv', type: 'text/csv' },
  json: { ending: 'json', type: 'application/json' }
}

/** The file of a format, named after that for lines: 'order_7_proxies.txt' becomes 'order_7_proxies.csv'. */
export function fileOf(name: string, format: Format): { name: string; type: string } {
  const kind = KINDS[format]
  return kind ? { name: `${name.replace(/\.txt$/, '')}.${kind.ending}`, type: kind.type } : { name, type: 'text/plain' }
}
