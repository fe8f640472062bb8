import * as fc from 'fast-check'
import { normaliseDenyList } from '@netlet/contract/agent-hashes'
import { expect, test } from 'vitest'
import { parseAddress } from '../net/ip.ts'
import { DenySet, emptyDenySet } from './deny-set.ts'
import { DomainNames } from './domain-names.ts'

const name = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }).map(labels => labels.join('.'))

/** The lines that match a host, longest first. */
const matching = (lines: string[], host: string): string[] =>
  lines.filter(line => host === line || host.endsWith(`.${line}`)).toSorted((a, b) => b.length - a.length)

test('the longest denied domain or exception that matches a name decides; a tie denies', () => {
  fc.assert(
    fc.property(fc.array(name), fc.array(name), name, (denied, allowed, host) => {
      const list = normaliseDenyList(denied, allowed)
      if (!list.ok) throw new Error(list.bad)
      const [deciding] = matching([...denied, ...allowed], host)
      expect(new DenySet(list.domains).deniesName(host)).toBe(deciding !== undefined && denied.includes(deciding))
    })
  )
})

test('an exception opens no address, and works beside denied addresses', () => {
  const set = new DenySet(['!open.wide.test', '10.0.0.0/8', 'wide.test'])
  expect([set.hasAddresses, set.deniesName('open.wide.test'), set.deniesName('wide.test')]).toEqual([true, false, true])
})

test('lines of another set that shares the names decide nothing', () => {
  const names = new DomainNames()
  const own = new DenySet(['wide.test', '!open.test'], names)
  expect(new DenySet(['a.wide.test', '!b.wide.test'], names).deniesName('a.wide.test')).toBe(true)
  expect(['a.wide.test', 'b.wide.test', 'open.test'].map(host => own.deniesName(host))).toEqual([true, true, false])
})

test('a set knows whether it denies names and whether it denies addresses', () => {
  const of = (...entries: string[]) => {
    const set = new DenySet(entries)
    return [set.hasNames, set.hasAddresses]
  }
  expect(of()).toEqual([false, false])
  expect([emptyDenySet.hasNames, emptyDenySet.hasAddresses]).toEqual([false, false])
  expect(of('a.test')).toEqual([true, false])
  expect(of('!a.test', '10.0.0.0/8')).toEqual([false, true])
  expect(of('2001:db8::/32')).toEqual([false, true])
  // Names may also end in digits.
  expect(of('a0.b9')).toEqual([true, false])
  expect(of('10.0.0.0/8', '10.0.0.0')).toEqual([false, true])
})

test('added addresses are denied once the set is sealed', () => {
  const set = new DenySet(['a.test'])
  const address = parseAddress('10.0.0.9') ?? expect.fail()
  set.add(['10.0.0.9', 'b.test'])
  expect(set.deniesAddress(address)).toBe(false)
  expect(set.seal()).toBe(set)
  expect([set.deniesAddress(address), set.deniesName('b.test'), set.deniesName('c.test')]).toEqual([true, true, false])
})

test('a denied IPv4 address is also denied inside an IPv6 address that leads to it', () => {
  const set = new DenySet(['93.184.216.34', '2001:db8::/32', '2002:a00::/24'])
  const denies = (text: string): boolean => set.deniesAddress(parseAddress(text) ?? expect.fail(text))
  for (const text of ['::ffff:93.184.216.34', '64:ff9b::5db8:d822', '2002:5db8:d822::1', '2001:db8::1', '2002:a01::1'])
    expect(denies(text), text).toBe(true)
  for (const text of ['64:ff9b::5db8:d823', '2002:5db8:d823::1', '64:ff9b:1::5db8:d822', '2003:5db8:d822::1'])
    expect(denies(text), text).toBe(false)
})

test.each([
  ['8.8.8.8', true],
  ['8.8.8.0/24', true],
  ['0.0.0.0/0', true],
  ['2001:db8::/32', true],
  ['2001:DB8:0::1/128', true],
  ['8.8.8.9/24', false],
  ['8.8.8.8/33', false],
  ['8.8.8.0/024', false],
  ['8.8.8.0/', false],
  ['8.8.8.0/24/1', false],
  ['2001:db8::1/32', false],
  ['2001:db8::/129', false]
])('a line with an address is accepted only if it denies something: %s %s', (line, taken) => {
  const list = normaliseDenyList([line])
  expect(list.ok).toBe(taken)
  if (list.ok) expect(new DenySet(list.domains).hasAddresses).toBe(true)
})
