import { hostPort } from '../../kit/host-port.ts'
import { urlPart, type Credentials } from './formats.ts'

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

export type ExtensionWords = Record<'protocol' | 'server' | 'port' | 'username' | 'password', string>

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
