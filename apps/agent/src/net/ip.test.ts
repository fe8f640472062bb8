import { array, assert, integer, property, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  formatV4,
  mergeRanges,
  parseAddress,
  parsePrefix,
  parsePrefixes,
  parseV4,
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
    '0x1.2.3.4',
    '1.2.3.-4'
  ])('not an address: %j', text => expect(parseV4(text)).toBe(-1))

  test('an IPv4-mapped address is the IPv4 address, in both notations', () => {
    expect(parseAddress('::ffff:1.2.3.4')).toEqual(parseAddress('1.2.3.4'))
    expect(parseAddress('::ffff:102:304')).toEqual(parseAddress('1.2.3.4'))
    expect(parseAddress('fe80::1%eth0')).toBeNull()
  })
})

describe('prefixes', () => {
  test.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['1.2.3.4', '1.2.3.4/32'],
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
    '::1/64',
    '::/129',
    'x/8'
  ])('not a prefix: %s', text => expect(parsePrefix(text)).toBeNull())

  test('a range is cut into prefixes that cover it exactly, with as few as can be', () => {
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

  test('a set holds exactly the addresses of its prefixes', () => {
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
