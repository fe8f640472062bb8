import { expect, test } from 'vitest'
import { parseAddress } from '../net/ip.ts'
import type { Lease } from './access-table.ts'
import { AccessTable } from './access-table.ts'
import { type Egress, ExitAddresses, isSessionName, splitSession } from './exit-addresses.ts'

const egressOf = (text: string): Egress => {
  const address = parseAddress(text)
  if (address === null) throw new Error(text)
  return { text, address }
}
const leaseOf = (user: string, egress: 'fixed' | 'request' | 'session'): Lease => {
  const table = new AccessTable()
  const record = { password: 'pw', prefixes: ['2001:db8:0:1::/64'], denySet: '', allowedClientIps: [] }
  table.apply([{ op: 'user', user, record: egress === 'fixed' ? record : { ...record, egress } }])
  const lease = table.lease(user)
  if (lease === undefined) throw new Error(user)
  return lease
}
const leased = egressOf('2001:db8:0:1::1')

test('thousands of exits are inside the /64, and none is the routers’, the proxy’s or an anycast address', () => {
  const exits = new ExitAddresses('a2V5')
  const [turns, sticky] = [leaseOf('turns', 'request'), leaseOf('sticky', 'session')]
  const seen = new Set<bigint>()
  for (let n = 0; n < 1000; n++) {
    for (const { text, address } of [exits.next(turns, leased, ''), exits.next(sticky, leased, `s${n}`)]) {
      expect(parseAddress(text)).toEqual(address)
      expect(address.v6 >> 64n).toBe(leased.address.v6 >> 64n)
      const lower = address.v6 & ((1n << 64n) - 1n)
      expect(lower > 1n && (lower < 0xfdffffffffffff80n || lower > 0xfdffffffffffffffn)).toBe(true)
      seen.add(address.v6)
    }
  }
  expect(seen.size).toBe(2000)
})

test('the address of a session depends on the key: another agent, or a guess, gives another address', () => {
  const lease = leaseOf('sticky', 'session')
  const of = (key: string, session: string): string => new ExitAddresses(key).next(lease, leased, session).text
  expect(of('a2V5', 'abc')).toBe(of('a2V5', 'abc'))
  expect(of('b2V5', 'abc')).not.toBe(of('a2V5', 'abc'))
  // The boundary between the names matters.
  expect(of('a2V5', 'abc1')).not.toBe(of('a2V5', 'abc'))
})

test('IPv4 connections leave from the leased address in every mode', () => {
  const four = egressOf('127.9.0.1')
  expect(new ExitAddresses('a2V5').next(leaseOf('u', 'request'), four, '')).toBe(four)
})

test('names of sessions', () => {
  expect(splitSession('u')).toBeNull()
  expect(splitSession('-session-x')).toBeNull()
  expect(splitSession('u-session-x')).toEqual({ user: 'u', session: 'x' })
  expect(splitSession('u-session-a-session-b')).toEqual({ user: 'u-session-a', session: 'b' })
  expect(splitSession('u-session-')).toEqual({ user: 'u', session: '' })
  expect(['a', 'A_9', 'x'.repeat(32)].every(isSessionName)).toBe(true)
  expect(['', 'a.b', 'a-b', 'ä', 'x'.repeat(33), 'a\n'].some(isSessionName)).toBe(false)
})
