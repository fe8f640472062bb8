import { array, assert, integer, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatAddress,
  formatV4,
  innerAddress,
  mergeRanges,
  packRanges,
  parseAddress,
  parsePrefix,
  parsePrefixes,
  parseV4,
  prefixesOf,
  RangeSet,
  rangeToPrefixes
} from './ip.ts'

const v4 = integer({ min: 0, max: 0xffffffff })
const address = (value: number): { v4: number; v6: bigint } => ({ v4: value, v6: 0n })

describe('addresses', () => {
  test('every IPv4 address is read as it is written', () => {
    assert(property(v4, value => parseV4(formatV4(value)) === value))
  })

  test.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '1.2.3.256',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.4 ',
    '1.2.3.4:',
    '1.2.3.a',
    '11.22.33',
    '11.22.33.',
    '11..22.33',
    '11.22.33.44.5',
    '0x1.2.3.4',
    '1.2.3.-4'
  ])('not an address: %j', text => expect(parseV4(text)).toBe(-1))

  test('an IPv4-mapped address is the IPv4 address, in both notations', () => {
    expect(parseAddress('::ffff:1.2.3.4')).toEqual(parseAddress('1.2.3.4'))
    expect(parseAddress('::ffff:102:304')).toEqual(parseAddress('1.2.3.4'))
    expect(parseAddress('fe80::1%eth0')).toBeNull()
  })
})

test.each([
  ['2001:db8::1', 6, '2001:db8::1'],
  ['2001:DB8:0:0:0:0:0:1', 6, '2001:db8::1'],
  ['::', 6, '::'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 6, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['::fffe:1.2.3.4', 6, '::fffe:102:304'],
  ['255.255.255.255', 4, '255.255.255.255'],
  ['0.0.0.0', 4, '0.0.0.0']
] as const)('%s is written as %s: %s', (text, family, canonical) => {
  const read = parseAddress(text) ?? expect.fail(text)
  expect([read.v4 >= 0, formatAddress(family, family === 4 ? BigInt(read.v4) : read.v6)]).toEqual([
    family === 4,
    canonical
  ])
})

test.each([
  ['64:ff9b::1.2.3.4', '1.2.3.4'],
  ['64:ff9b::ffff:ffff', '255.255.255.255'],
  ['64:ff9b:0:0:0:1:102:304', null],
  ['2002:102:304::', '1.2.3.4'],
  ['2002:ffff:ffff:1::9', '255.255.255.255'],
  ['2003:102:304::', null],
  ['1.2.3.4', null],
  ['::ffff:1.2.3.4', null]
])('%s leads to %s', (text, inner) => {
  expect(innerAddress(parseAddress(text) ?? expect.fail(text))).toEqual(inner === null ? null : parseAddress(inner))
})

describe('prefixes', () => {
  test.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['1.2.3.4', '1.2.3.4/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['2001:DB8:0::/48', '2001:db8::/48'],
    ['::1', '::1/128']
  ])('%s is %s', (text, canonical) => expect(parsePrefix(text)?.text).toBe(canonical))

  test.each([
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/8x',
    '10.0.0.0/x8',
    '10.0.0.0/1000',
    '::ffff:1.2.3.4',
    '::ffff:10.0.0.0/8',
    '',
    '::1/64',
    '::/129',
    'x/8'
  ])('not a prefix: %s', text => expect(parsePrefix(text)).toBeNull())

  test('a range is cut into the fewest prefixes that cover it exactly', () => {
    assert(
      property(v4, integer({ min: 0, max: 5000 }), (first, more) => {
        const last = Math.min(first + more, 0xffffffff)
        const prefixes = rangeToPrefixes(4, BigInt(first), BigInt(last))
        const size = prefixes.reduce((sum, prefix) => sum + prefix.last - prefix.first + 1n, 0n)
        expect(size).toBe(BigInt(last - first + 1))
        expect(mergeRanges(prefixes)).toEqual([{ family: 4, first: BigInt(first), last: BigInt(last) }])
        expect(prefixes.length).toBeLessThanOrEqual(2 * 13)
      })
    )
  })

  test('prefixes are read in order, each once; the first invalid one is named', () => {
    const texts = ['2001:db8::/32', ' 10.0.0.0/8 ', '9.0.0.0/8', '10.0.0.0/16', '10.0.0.0/8', '2001:db8::/16', '::/0']
    expect(parsePrefixes(texts)).toEqual({ ok: false, bad: '2001:db8::/16' })
    const read = parsePrefixes(texts.filter(text => text !== '2001:db8::/16'))
    expect(read.ok && read.prefixes.map(({ text, family }) => [family, text])).toEqual([
      [4, '9.0.0.0/8'],
      [4, '10.0.0.0/16'],
      [4, '10.0.0.0/8'],
      [6, '::/0'],
      [6, '2001:db8::/32']
    ])
    const nested = ['10.0.0.0/16', '10.0.0.0/12', '10.0.0.0/8']
    for (const order of [nested, nested.toReversed()]) {
      const sorted = parsePrefixes(order)
      expect(sorted.ok && sorted.prefixes.map(({ text }) => text)).toEqual(nested)
    }
    expect(prefixesOf(['10.0.0.0/8', 'x', '::1']).map(({ text }) => text)).toEqual(['10.0.0.0/8', '::1/128'])
  })

  test('prefixes that touch or overlap become one range, within their family', () => {
    const ranges = (...texts: string[]) =>
      mergeRanges(prefixesOf(texts)).map(
        ({ family, first, last }) => `${formatAddress(family, first)} ${formatAddress(family, last)}`
      )
    expect(ranges('10.0.1.0/24', '10.0.0.0/24', '10.0.3.0/24')).toEqual(['10.0.0.0 10.0.1.255', '10.0.3.0 10.0.3.255'])
    expect(ranges('10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16')).toEqual(['10.0.0.0 10.255.255.255'])
    expect(ranges('255.255.255.255', '::1:0:0/96')).toEqual([
      '255.255.255.255 255.255.255.255',
      '::1:0:0 ::1:ffff:ffff'
    ])
    expect(ranges()).toEqual([])
  })

  test.each([
    [4, '0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
    [4, '10.0.0.1', '10.0.0.4', ['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/32']],
    [6, '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['::/0']],
    [6, '2001:db8::', '2001:db8::2', ['2001:db8::/127', '2001:db8::2/128']]
  ] as const)('of IPv%i the range from %s to %s is %j', (family, first, last, expected) => {
    const value = (text: string): bigint => {
      const { v4, v6 } = parseAddress(text) ?? expect.fail(text)
      return family === 4 ? BigInt(v4) : v6
    }
    expect(rangeToPrefixes(family, value(first), value(last)).map(({ text }) => text)).toEqual(expected)
    expect(rangeToPrefixes(family, value(last) + 1n, value(first))).toEqual([])
  })

  test('a set of both families, packed or not, contains addresses of both', () => {
    const prefixes = prefixesOf(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '2001:db9::1', '::1:0:0/112'])
    for (const set of [new RangeSet(prefixes), new RangeSet(packRanges(prefixes))]) {
      const has = (text: string): boolean => set.has(parseAddress(text) ?? expect.fail(text))
      for (const text of ['10.0.0.0', '10.255.255.255', '192.0.2.1', '2001:db8::', '2001:db9::1', '::1:0:ffff'])
        expect(has(text), text).toBe(true)
      for (const text of [
        '9.255.255.255',
        '11.0.0.0',
        '192.0.2.0',
        '2001:db7:ffff::',
        '2001:db9::',
        '::1:1:0',
        '::a00:1'
      ])
        expect(has(text), text).toBe(false)
      expect(set.empty).toBe(false)
    }
    expect(new RangeSet([]).empty).toBe(true)
    expect(new RangeSet(prefixesOf(['10.0.0.0/8'])).empty).toBe(false)
    expect(new RangeSet(prefixesOf(['::1'])).empty).toBe(false)
  })

  test('a set contains exactly the addresses of its prefixes', () => {
    const prefix = tuple(v4, integer({ min: 20, max: 32 })).map(([value, length]) => {
      const size = 2 ** (32 - length)
      return `${formatV4(Math.floor(value / size) * size)}/${length}`
    })
    assert(
      property(array(prefix, { maxLength: 20 }), array(v4, { maxLength: 20 }), (texts, probes) => {
        const parsed = parsePrefixes(texts)
        if (!parsed.ok) throw new Error(parsed.bad)
        const set = new RangeSet(parsed.prefixes)
        const edges = parsed.prefixes.flatMap(each =>
          [each.first - 1n, each.first, each.last, each.last + 1n].map(Number)
        )
        for (const probe of [...probes, ...edges].filter(value => value >= 0 && value <= 0xffffffff)) {
          const inside = parsed.prefixes.some(each => each.first <= BigInt(probe) && BigInt(probe) <= each.last)
          expect(set.has(address(probe))).toBe(inside)
        }
      })
    )
  })
})
