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
const urlPart = (text: string): string =>
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

export const TOOLS = ['curl', 'python', 'node', 'playwright', 'puppeteer', 'scrapy', 'wget', 'extension'] as const
export type Tool = (typeof TOOLS)[number]
/** Tools that support TLS to a proxy. */
const SECURE_TOOLS: readonly Tool[] = ['curl', 'python', 'node', 'playwright', 'puppeteer', 'extension']

/** The tools for a proxy. Over TLS, if its name does not resolve to it, only tools that accept an address. */
export function toolsFor({ https }: Credentials, secure: boolean): readonly Tool[] {
  if (!secure || !https) return TOOLS
  return https.leads ? SECURE_TOOLS : ['curl']
}

/** Shown instead of a password. */
export const MASK = '••••••••'
const TARGET = 'https://example.com'

/** Quotes a text for a shell, and for JavaScript or Python. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const literal = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

type ExtensionWords = Record<'protocol' | 'server' | 'port' | 'username' | 'password', string>

/**
 * Code that uses a proxy with a tool.
 * @param words the names of a browser extension's fields
 * @param options.masked for the screen: without the password
 * @param options.secure TLS to the proxy, by the name in its certificate
 */
export function snippetOf(
  tool: Tool,
  proxy: Credentials,
  words: ExtensionWords,
  { masked = false, secure = false }: { masked?: boolean; secure?: boolean } = {}
): string {
  const { ip, port, username } = proxy
  const https = secure ? proxy.https : null
  const password = masked ? MASK : proxy.password
  const host = https?.host ?? ip
  const at = hostPort(host, port)
  const scheme = https ? 'https' : 'http'
  const url = `${scheme}://${urlPart(username)}:${masked ? MASK : urlPart(password)}@${at}`
  switch (tool) {
    case 'curl': {
      if (!https) return `curl -x ${shell(url)} ${TARGET}`
      const where = https.leads
        ? ''
        : ` --resolve ${shell(`${https.host}:${port}:${ip.includes(':') ? `[${ip}]` : ip}`)}`
      return `curl --proxy ${shell(url)}${where} ${TARGET}`
    }
    case 'wget':
      return [
        `wget -e use_proxy=yes -e https_proxy=${shell(`http://${at}`)} \\`,
        `  --proxy-user=${shell(username)} --proxy-password=${shell(password)} \\`,
        `  -qO- ${TARGET}`
      ].join('\n')
    case 'python':
      return [
        'import requests',
        '',
        `proxy = ${literal(url)}`,
        `reply = requests.get('${TARGET}', proxies={'http': proxy, 'https': proxy}, timeout=30)`,
        'print(reply.status_code)'
      ].join('\n')
    case 'scrapy':
      return [
        '# in a spider',
        'def start_requests(self):',
        `    proxy = ${literal(url)}`,
        `    yield scrapy.Request('${TARGET}', meta={'proxy': proxy})`
      ].join('\n')
    case 'node':
      return [
        '// npm install undici',
        "import { fetch, ProxyAgent } from 'undici'",
        '',
        `const dispatcher = new ProxyAgent(${literal(url)})`,
        `const reply = await fetch('${TARGET}', { dispatcher })`,
        'console.log(reply.status)'
      ].join('\n')
    case 'playwright':
      return [
        "import { chromium } from 'playwright'",
        '',
        'const browser = await chromium.launch({',
        '  proxy: {',
        `    server: ${literal(`${scheme}://${at}`)},`,
        `    username: ${literal(username)},`,
        `    password: ${literal(password)}`,
        '  }',
        '})',
        'const page = await browser.newPage()',
        `await page.goto('${TARGET}')`
      ].join('\n')
    case 'puppeteer':
      return [
        "import puppeteer from 'puppeteer'",
        '',
        `const browser = await puppeteer.launch({ args: [${literal(`--proxy-server=${scheme}://${at}`)}] })`,
        'const page = await browser.newPage()',
        `await page.authenticate({ username: ${literal(username)}, password: ${literal(password)} })`,
        `await page.goto('${TARGET}')`
      ].join('\n')
    case 'extension':
      return [
        `${words.protocol}: ${scheme.toUpperCase()}`,
        `${words.server}: ${host}`,
        `${words.port}: ${port}`,
        `${words.username}: ${username}`,
        `${words.password}: ${password}`
      ].join('\n')
  }
}
