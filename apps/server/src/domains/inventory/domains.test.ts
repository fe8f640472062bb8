import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDomains } from './domains.ts'

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
    expect(domainsOf(Array.from({ length: 130 }, () => 'a').join('.'))).toEqual([1])
    expect(domainsOf('\n # nothing\n')).toEqual([1])
  })

  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.array(fc.domain(), { minLength: 1, maxLength: 20 }), names => {
        const once = domainsOf(names.join('\n'))
        expect(once).toEqual([...new Set(names.map(name => name.toLowerCase()))].toSorted())
        expect(domainsOf(once.join('\n'))).toEqual(once)
      })
    )
  })
})
