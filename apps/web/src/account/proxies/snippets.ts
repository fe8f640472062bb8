import { hostPort } from '../../kit/host-port.ts'
import { urlPart, type Credentials } from './formats.ts'

export const TOOLS = ['curl', 'python', 'node', 'playwright', 'puppeteer', 'scrapy', 'wget', 'extension'] as const
export type Tool = (typeof TOOLS)[number]

/** What stands on the screen for a password. */
export const MASK = '••••••••'
const TARGET = 'https://example.com'

/** A text for a shell, and for JavaScript or Python. */
const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const literal = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

export type ExtensionWords = Record<'protocol' | 'server' | 'port' | 'username' | 'password', string>

/**
 * How a tool is told to use a proxy, in its own language.
 * @param masked for the screen: without the password
 * @param words the names of a browser extension's fields
 */
export function snippetOf(tool: Tool, proxy: Credentials, words: ExtensionWords, masked = false): string {
  const { ip, port, username } = proxy
  const password = masked ? MASK : proxy.password
  const at = hostPort(ip, port)
  const url = `http://${urlPart(username)}:${masked ? MASK : urlPart(password)}@${at}`
  switch (tool) {
    case 'curl':
      return `curl -x ${shell(url)} ${TARGET}`
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
        `    server: ${literal(`http://${at}`)},`,
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
        `const browser = await puppeteer.launch({ args: [${literal(`--proxy-server=http://${at}`)}] })`,
        'const page = await browser.newPage()',
        `await page.authenticate({ username: ${literal(username)}, password: ${literal(password)} })`,
        `await page.goto('${TARGET}')`
      ].join('\n')
    case 'extension':
      return [
        `${words.protocol}: HTTP`,
        `${words.server}: ${ip}`,
        `${words.port}: ${port}`,
        `${words.username}: ${username}`,
        `${words.password}: ${password}`
      ].join('\n')
  }
}
