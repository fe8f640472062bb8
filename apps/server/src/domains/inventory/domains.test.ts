import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parentsOf, parseDomains } from './domains.ts'

const domainsOf = (text: string) => {
  const parsed = parseDomains(text)
  return parsed.ok ? parsed.domains : parsed.lines.map(line => line.line)
}

describe('parseDomains', () => {
  it('reads one domain a line, however it is written', () => {
    const text = `
      # the shop
      Example.COM
      *.cdn.example.com   # with everything below
      .static.example.net
      https://www.example.org/
      münchen.example
      example.com.
      _dmarc.example.edu\r
      203.0.113.9
      localhost`
    expect(domainsOf(text)).toEqual([
      '203.0.113.9',
      '_dmarc.example.edu',
      'cdn.example.com',
      'example.com',
      'localhost',
      'static.example.net',
      'www.example.org',
      'xn--mnchen-3ya.example'
    ])
  })

  it('names every line that is no domain', () => {
    const text =
      'ok.example\nexample.com/path\nexample.com:443\n-x.example\na b.example\nex..ample\n1.2.3\nüber_\u0000.example'
    expect(domainsOf(text)).toEqual([2, 3, 4, 5, 6, 7, 8])
    expect(domainsOf(`${'a'.repeat(64)}.example`)).toEqual([1])
    expect(domainsOf('com\n*.co.uk\nxn--p1ai\nрф\nexample.co.uk\ngithub.io')).toEqual([1, 2, 3, 4])
    expect(domainsOf(Array.from({ length: 130 }, () => 'a').join('.'))).toEqual([1])
    expect(domainsOf('\n # nothing\n')).toEqual([1])
  })

  it('says what is wrong with each line', () => {
    const long = `${'a'.repeat(90)}.example`
    const text = `ok.example\n https://example.com/path # a page\nexample.com?q\nexample.com:443\nexample.com:\n-x\n${long}\ncom`
    expect(parseDomains(text)).toEqual({
      ok: false,
      lines: [
        [2, 'https://example.com/path', 'has a path, but a rule covers whole domains'],
        [3, 'example.com?q', 'has a path, but a rule covers whole domains'],
        [4, 'example.com:443', 'has a port, but a rule covers whole domains'],
        [5, 'example.com:', 'has a port, but a rule covers whole domains'],
        [6, '-x', 'is not a domain, such as example.com'],
        [7, long, 'is not a domain, such as example.com'],
        [8, 'com', 'is a public suffix, so a rule for it would cover every site below it']
      ].map(([line, text, problem]) => ({
        line,
        text,
        message: `Line ${line}: '${String(text).slice(0, 80)}' ${problem}`
      }))
    })
    expect(parseDomains('a:1b')).toEqual({
      ok: false,
      lines: [{ line: 1, text: 'a:1b', message: "Line 1: 'a:1b' is not a domain, such as example.com" }]
    })
    expect(parseDomains('#')).toEqual({
      ok: false,
      lines: [{ line: 1, text: '', message: 'Enter at least one domain' }]
    })
  })

  it.each([
    ['a', ['a']],
    ['a.1b', ['a.1b']],
    ['1.a', ['1.a']],
    ['a_b-c.example', ['a_b-c.example']],
    [`${'a'.repeat(63)}.example`, [`${'a'.repeat(63)}.example`]],
    ['H2+x.1-y://A.example', ['a.example']],
    ['*.*..a.example', ['a.example']],
    ['a.example\rb.example\r\nc.example', ['a.example', 'b.example', 'c.example']],
    ['1.2.3.4.', ['1.2.3.4']],
    ['1.2.3.0x4', ['1.2.3.0x4']],
    ['*.http://b.example', [1]],
    ['a.12', [1]],
    ['12', [1]],
    ['1://a.example', [1]],
    ['a.example//', [1]],
    ['a.example..', [1]],
    ['a*.example', [1]],
    ['a-.example', [1]],
    ['a.-b', [1]],
    ['x a.example', [1]]
  ])('%j is %j', (text, domains) => expect(domainsOf(text)).toEqual(domains))

  it('takes a domain of 253 characters, and none of 254', () => {
    const domain = `${'a.'.repeat(126)}b`
    expect(domainsOf(domain)).toEqual([domain])
    expect(domainsOf(`${'a.'.repeat(126)}bc`)).toEqual([1])
  })

  it('reads back what it wrote', () => {
    // Below `*.jm`, for example, every domain of two labels is a public suffix.
    const domain = fc.domain({ size: 'small' }).map(name => `www.${name}`)
    fc.assert(
      fc.property(fc.array(domain, { minLength: 1, maxLength: 20 }), names => {
        const once = domainsOf(names.join('\n'))
        expect(once).toEqual([...new Set(names.map(name => name.toLowerCase()))].toSorted())
        expect(domainsOf(once.join('\n'))).toEqual(once)
      })
    )
  })
})

it('knows the domains above one', () => {
  expect(parentsOf('a.b.c')).toEqual(['b.c', 'c'])
  expect(parentsOf('c')).toEqual([])
})
