import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostsOf, textOf } from './use-copy-and-export.ts'
import {
  csvCell,
  DEFAULT_TEMPLATE,
  fileOf,
  fillTemplate,
  formatProxies,
  FORMATS,
  proxyOfLine,
  proxyUrl,
  type Credentials,
  type Format
} from './formats.ts'
import { storedChoice } from './page.tsx'

const plain: Credentials = { ip: '198.51.100.7', port: 1080, username: 'alice7', password: 'p4ss' }
const six: Credentials = { ...plain, ip: '2001:db8::7' }
const as = (format: Format, ...proxies: Credentials[]) => formatProxies(proxies, { format, template: DEFAULT_TEMPLATE })

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/)
const anyProxy = fc.record({
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  port: fc.integer({ min: 1, max: 65_535 }),
  username: word,
  password: word
})

describe('proxies as text', () => {
  it.each([
    ['line', '198.51.100.7:1080:alice7:p4ss', '[2001:db8::7]:1080:alice7:p4ss'],
    ['at', 'alice7:p4ss@198.51.100.7:1080', 'alice7:p4ss@[2001:db8::7]:1080'],
    ['http', 'http://alice7:p4ss@198.51.100.7:1080', 'http://alice7:p4ss@[2001:db8::7]:1080'],
    ['socks5', 'socks5://alice7:p4ss@198.51.100.7:1080', 'socks5://alice7:p4ss@[2001:db8::7]:1080']
  ] as const)('as %s, a proxy a line', (format, four, other) => {
    expect(as(format, plain, six)).toBe(`${four}\n${other}`)
  })

  it('as CSV with a head, and as JSON', () => {
    expect(as('csv', plain, six)).toBe(
      'ip,port,username,password\r\n198.51.100.7,1080,alice7,p4ss\r\n2001:db8::7,1080,alice7,p4ss'
    )
    expect(JSON.parse(as('json', plain, six))).toEqual([plain, six])
    // No fields that programs do not need, such as the delays of a check.
    expect(as('json', { ...plain, id: 3, bing_delay: 12 } as Credentials)).not.toContain('delay')
  })

  it('by a template, numbered, where what is no blank stays', () => {
    const template = '{n}. {user}@{ip} {host} {port} {pass} {other} {} $1 $& {n}'
    expect(formatProxies([plain, six], { format: 'template', template })).toBe(
      [
        '1. alice7@198.51.100.7 198.51.100.7 1080 p4ss {other} {} $1 $& 1',
        '2. alice7@2001:db8::7 [2001:db8::7] 1080 p4ss {other} {} $1 $& 2'
      ].join('\n')
    )
    expect(formatProxies([plain], { format: 'template', template: '  ' })).toBe('198.51.100.7:1080:alice7:p4ss')
  })

  it('does not fill in blanks that a value brings with it', () => {
    expect(fillTemplate('{user} {pass}', { ...plain, username: '{pass}', password: '$&' }, 1)).toBe('{pass} $&')
  })

  it('lets no spreadsheet calculate with a cell, and quotes what would end it', () => {
    expect(['=1+1', '+1', '-1', '@x', '\tx', 'a"b', 'a,b', 'a\nb', 'a'].map(csvCell)).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@x",
      "'\tx",
      '"a""b"',
      '"a,b"',
      '"a\nb"',
      'a'
    ])
  })

  it('is a URL that names the same proxy, whatever user and password are', () => {
    fc.assert(
      fc.property(
        anyProxy,
        fc.string({ minLength: 1, unit: 'grapheme' }),
        fc.string({ minLength: 1, unit: 'grapheme' }),
        (proxy, username, password) => {
          const text = proxyUrl('http', { ...proxy, username, password })
          expect(text).not.toMatch(/['"\s]/)
          const url = new URL(text)
          expect(decodeURIComponent(url.username)).toBe(username)
          expect(decodeURIComponent(url.password)).toBe(password)
          expect(url.port || '80').toBe(String(proxy.port))
        }
      )
    )
  })

  it('gives each proxy back from its line, and from CSV and JSON', () => {
    fc.assert(
      fc.property(fc.array(anyProxy, { minLength: 1, maxLength: 20 }), proxies => {
        expect(
          as('line', ...proxies)
            .split('\n')
            .map(proxyOfLine)
        ).toEqual(proxies)
        expect(JSON.parse(as('json', ...proxies))).toEqual(proxies)
        for (const format of FORMATS)
          if (format !== 'json' && format !== 'https')
            expect(as(format, ...proxies).split(/\r?\n/)).toHaveLength(proxies.length + (format === 'csv' ? 1 : 0))
      })
    )
  })

  it.each(['', 'nothing', '198.51.100.7:1080', '2001:db8::7:1080', '[2001:db8::7]:x:u:p'])(
    'takes no proxy from %j',
    line => expect(proxyOfLine(line)).toBeNull()
  )

  it('keeps a colon of a password', () => {
    expect(proxyOfLine('198.51.100.7:1080:alice7:a:b')).toEqual({ ...plain, password: 'a:b' })
  })

  it('names its file by the format', () => {
    expect(fileOf('order_7_proxies.txt', 'line')).toEqual({ name: 'order_7_proxies.txt', type: 'text/plain' })
    expect(fileOf('order_7_proxies.txt', 'csv')).toEqual({ name: 'order_7_proxies.csv', type: 'text/csv' })
    expect(fileOf('order_7_proxies.txt', 'json')).toEqual({ name: 'order_7_proxies.json', type: 'application/json' })
  })
})

describe('proxies that are reached over TLS', () => {
  const secure: Credentials = { ...plain, https: { host: '198-51-100-7.p.example.com', leads: true } }

  it('are written by the name that leads to them; others are left out, and nothing else changes', () => {
    const elsewhere: Credentials = { ...six, https: { host: 'p.example.com', leads: false } }
    expect(as('https', secure, six, elsewhere)).toBe('https://alice7:p4ss@198-51-100-7.p.example.com:1080')
    expect(as('https', { ...six, https: { host: '2001:db8::7', leads: true } })).toBe(
      'https://alice7:p4ss@[2001:db8::7]:1080'
    )
    for (const format of FORMATS.filter(one => one !== 'https')) expect(as(format, secure)).toBe(as(format, plain))
  })

  it('are exported with the names that the server told, and nothing is copied where there is none', () => {
    const lines = ['198.51.100.7:1080:alice7:p4ss', '198.51.100.8:1080:alice7:p4ss']
    const hosts = hostsOf({ proxy_lines: lines, https_hosts: [null, 'b.example.com'] })
    const choice = { format: 'https' as const, template: DEFAULT_TEMPLATE }
    expect(textOf(lines, choice, hosts)).toBe('https://alice7:p4ss@b.example.com:1080')
    expect(() => textOf(lines, choice)).toThrow('None of these proxies has a hostname for TLS')
  })
})

describe('the format that this device remembers', () => {
  it.each(['', 'null', '{', '[]', '"csv"', '{"format":"exe","template":7}'])(
    'is the usual one where it keeps %j',
    kept => {
      localStorage.setItem('netlet-proxy-format', kept)
      expect(storedChoice()).toEqual({ format: 'line', template: DEFAULT_TEMPLATE })
    }
  )

  it('is what was chosen', () => {
    localStorage.setItem('netlet-proxy-format', '{"format":"template","template":"{user}"}')
    expect(storedChoice()).toEqual({ format: 'template', template: '{user}' })
  })
})
