import { expect, test } from 'vitest'
import { AddressNames } from './address-names.ts'
import { DenySet } from './deny-set.ts'
import { DomainNames } from './domain-names.ts'

const SITE = '192.0.2.1'

test('many other names of an address, or many addresses, push out no name that a rule covers', () => {
  const names = new AddressNames(name => (name.endsWith('.ruled.test') ? 0 : -1))
  names.note('www.ruled.test', [SITE, '2001:db8::1'])
  for (let n = 0; n < 100; n++) names.note(`n${n}.test`, [SITE])
  const others = Array.from({ length: 40_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
  for (let n = 0; n < others.length; n += 64) names.note(`m${n}.test`, others.slice(n, n + 64))
  expect(names.of(SITE)).toEqual(['www.ruled.test'])
  expect(names.of('2001:DB8:0::1')).toEqual(['www.ruled.test'])
  expect(names.of('10.0.0.1')).toEqual([])
  expect(names.of(others.at(-1) ?? '')).toHaveLength(1)
  expect(names.of('www.ruled.test')).toEqual([])
  // NAT64 and 6to4 addresses lead to the same place.
  expect(names.of('64:ff9b::c000:201')).toEqual(['www.ruled.test'])
  expect(names.of('2002:c000:201::1')).toEqual(['www.ruled.test'])
})

test('an address has its newest names, each once; one that gets a rule is protected from its next answer on', () => {
  const ruled = new Set<string>()
  const names = new AddressNames(name => (ruled.has(name) ? 0 : -1))
  for (let n = 0; n < 20; n++) names.note(`n${n}.test`, [SITE])
  names.note('n19.test', [SITE])
  expect(names.of(SITE)).toEqual(Array.from({ length: 16 }, (_, n) => `n${19 - n}.test`))
  ruled.add('n19.test')
  names.note('n19.test', [SITE])
  for (let n = 20; n < 40; n++) names.note(`n${n}.test`, [SITE])
  expect(names.of(SITE)).toContain('n19.test')
})

test('names below one rule’s domain push out no name of another rule, and are judged as before', () => {
  const rules = new DomainNames()
  const own = new DenySet(['shared.test', '!open.shared.test'], rules)
  const other = new DenySet(['denied.test'], rules)
  const names = new AddressNames(name => rules.numberAbove(name))
  names.note('www.denied.test', [SITE])
  for (let n = 0; n < 40; n++) names.note(`n${n}.shared.test`, [SITE])
  for (let n = 0; n < 40; n++) names.note(`n${n}.open.shared.test`, [SITE])
  expect(names.of(SITE)).toEqual(['n39.open.shared.test', 'n39.shared.test', 'www.denied.test'])
  expect(names.of(SITE).map(name => own.deniesName(name))).toEqual([false, true, false])
  expect(names.of(SITE).some(name => other.deniesName(name))).toBe(true)
})
