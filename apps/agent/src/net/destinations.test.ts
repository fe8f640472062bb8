import { networkInterfaces } from 'node:os'
import type { PortRange } from '@netlet/contract/agent-settings'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type DestinationRules, DestinationPolicy } from './destinations.ts'
import { parseAddress, parsePrefixes, type Prefix, RangeSet } from './ip.ts'

const prefixes = (...texts: string[]): Prefix[] => {
  const parsed = parsePrefixes(texts)
  if (!parsed.ok) throw new Error(parsed.bad)
  return parsed.prefixes
}

const ports = (...list: number[]): PortRange[] => list.map(port => ({ first: port, last: port }))

/** A server that owns two ranges and has one more address of its own per family. */
function policy(rules: Partial<DestinationRules> = {}): (text: string, port: number) => boolean {
  const made = new DestinationPolicy(
    { allow: [], allowedPorts: [], deniedPorts: [], ownPorts: [], protectedPorts: [], ...rules },
    () => ['9.9.9.10', '2a00:1::5', 'fe80::1%eth0']
  )
  made.setOwn(new RangeSet(prefixes('8.8.4.0/24', '2a00:2::/64')))
  return (text, port) => {
    const address = parseAddress(text)
    if (address === null) throw new Error(text)
    return made.allows(address, port)
  }
}

/** Every way to write an address of that server. */
const own = [
  '8.8.4.4',
  '9.9.9.10',
  '::ffff:8.8.4.4',
  '::ffff:808:404',
  '::ffff:9.9.9.10',
  '64:ff9b::8.8.4.4',
  '2002:909:90a::1',
  '2a00:1::5',
  '2a00:2::77'
]

describe("the server's own addresses", () => {
  test.each(own)('are not destinations: %s', address => {
    const allows = policy()
    for (const port of [22, 80, 3128, 5432]) expect(allows(address, port)).toBe(false)
  })

  test('are destinations on the ports that the operator lists, except the loopback', () => {
    const allows = policy({ ownPorts: ports(443) })
    for (const address of own) expect([allows(address, 443), allows(address, 22)], address).toEqual([true, false])
    for (const address of ['127.0.0.1', '::1', '0.0.0.0', 'fe80::1']) expect(allows(address, 443)).toBe(false)
  })

  test('stay closed if the operator allows a range around them, and on protected ports', () => {
    const allows = policy({
      allow: prefixes('8.0.0.0/6', '127.0.0.0/8'),
      ownPorts: ports(80, 5432),
      protectedPorts: ports(5432)
    })
    expect([allows('8.8.4.4', 22), allows('::ffff:8.8.4.4', 5432), allows('8.8.4.4', 80)]).toEqual([false, false, true])
    // The loopback follows the allowed ranges alone: demo mode leases addresses of it.
    expect([allows('127.0.0.1', 22), allows('127.0.0.1', 5432)]).toEqual([true, false])
  })

  test('stay closed if they are link-local or their port becomes protected later', () => {
    expect(policy({ allow: prefixes('fe80::/10') })('fe80::1', 80)).toBe(false)
    expect(policy({ allow: prefixes('fe80::/10') })('fe80::2', 80)).toBe(true)
    const made = new DestinationPolicy(
      { allow: [], allowedPorts: [], deniedPorts: [], ownPorts: ports(80, 81), protectedPorts: [] },
      () => ['9.9.9.10']
    )
    made.protectPort(81)
    const own = parseAddress('9.9.9.10') ?? expect.fail()
    expect([made.allows(own, 80), made.allows(own, 81)]).toEqual([true, false])
  })

  test('include those of the interfaces', () => {
    const made = new DestinationPolicy({
      allow: prefixes('0.0.0.0/0', '::/0'),
      allowedPorts: [],
      deniedPorts: [],
      ownPorts: [],
      protectedPorts: []
    })
    const outer = Object.values(networkInterfaces()).flatMap(list => (list ?? []).filter(entry => !entry.internal))
    for (const { address } of outer)
      expect(made.allows(parseAddress(address.replace(/%.*/, '')) ?? expect.fail(address), 80), address).toBe(false)
  })

  test('leave all other addresses open', () => {
    const allows = policy()
    for (const address of ['8.8.5.4', '9.9.9.9', '2a00:1::6', '2a00:3::1', '64:ff9b::8.8.8.8'])
      expect(allows(address, 22)).toBe(true)
  })
})

test.each([
  ['the translated form of 127.0.0.1', '::ffff:0:7f00:1'],
  ['the translated form of a metadata service', '::ffff:0:169.254.169.254'],
  ['an IPv4-compatible one', '::7f00:1'],
  ['the NAT64 form of 10.0.0.1', '64:ff9b::a00:1'],
  ['a NAT64 form within a site', '64:ff9b:1::a00:1'],
  ['the 6to4 form of 127.0.0.1', '2002:7f00:1::1'],
  ['a Teredo address', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['an unassigned one', '4000::1'],
  ['a higher unassigned one', 'e000::1'],
  ['a unique local one', 'fd00::1'],
  ['a site-local one', 'fec0::1']
])('no form of an address leads outside the public IPv6 internet: %s', (_, address) => {
  for (const port of [80, 443, 8080]) expect(policy()(address, port)).toBe(false)
  expect(policy({ allow: prefixes('::/0', '0.0.0.0/0') })(address, 80)).toBe(true)
})

test.each(
  (
    '0.1.2.3 10.0.0.1 100.64.0.1 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 192.0.0.1 192.0.2.1 192.88.99.1 ' +
    '192.168.0.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 255.255.255.255 ::1 2001:db8::1 3fff::1'
  ).split(' ')
)('no address leads outside the public internet: %s', address => expect(policy()(address, 80)).toBe(false))

test('listed ports are open unless they are denied; without a list all ports are open that are not denied', () => {
  const rules = { allow: [], ownPorts: [], protectedPorts: [] }
  const deniedPorts = [{ first: 20, last: 25 }]
  const listed = new DestinationPolicy({ ...rules, deniedPorts, allowedPorts: [...ports(80), { first: 22, last: 30 }] })
  const open = [19, 20, 22, 25, 26, 30, 31, 79, 80, 81, 65_535]
  expect(open.filter(port => !listed.portDenied(port))).toEqual([26, 30, 80])
  const others = new DestinationPolicy({ ...rules, deniedPorts, allowedPorts: [] })
  expect(open.filter(port => !others.portDenied(port))).toEqual([19, 26, 30, 31, 79, 80, 81, 65_535])
})

test('a new address of an interface is known within seconds, even if the clock is set back', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const addresses = ['9.9.9.10']
  const rules = { allow: [], allowedPorts: [], deniedPorts: [], ownPorts: [], protectedPorts: [] }
  let asked = 0
  const policy = new DestinationPolicy(rules, () => {
    asked++
    return addresses
  })
  const added = parseAddress('9.9.9.11')
  if (added === null) throw new Error('no address')
  expect(policy.allows(added, 443)).toBe(true)
  addresses.push('9.9.9.11')
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(5000)
  // The interfaces are not listed for each connection.
  expect([policy.allows(added, 443), asked]).toEqual([true, 1])
  vi.advanceTimersByTime(1)
  expect([policy.allows(added, 443), asked]).toEqual([false, 2])
})
