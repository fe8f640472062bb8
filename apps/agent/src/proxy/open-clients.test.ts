import { expect, test } from 'vitest'
import { parseAddress, prefixesOf, RangeSet } from '../net/ip.ts'
import { OpenClients } from './open-clients.ts'

const leaseOf = (address: string, ...openTo: string[]) => ({ addresses: new RangeSet(prefixesOf([address])), openTo })
const LOCAL = parseAddress('192.0.2.1') ?? expect.fail()

test.each([
  ['198.51.100.7/32', ['198.51.100.7', '::ffff:198.51.100.7'], ['198.51.100.6', '198.51.100.8', '::1']],
  ['198.51.100.0/24', ['198.51.100.0', '198.51.100.255'], ['198.51.99.255', '198.51.101.0']],
  ['128.0.0.0/1', ['128.0.0.0', '255.255.255.255'], ['127.255.255.255']],
  ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::1']],
  ['2001:db8::1/128', ['2001:db8::1'], ['2001:db8::', '2001:db8::2', '1.2.3.4']],
  ['2001:db8::/64', ['2001:db8::', '2001:db8::ffff:ffff:ffff:ffff'], ['2001:db8:0:1::']],
  ['::/0', ['::2', 'ffff::1'], ['1.2.3.4']]
])('%s lets in only its own clients', (prefix, inside, outside) => {
  const clients = new OpenClients()
  const lease = leaseOf('192.0.2.0/29', prefix)
  clients.add(lease)
  for (const client of inside) expect(clients.find(LOCAL, client), client).toBe(lease)
  for (const client of [...outside, '', 'localhost']) expect(clients.find(LOCAL, client), client).toBe(null)
  clients.remove(lease)
  for (const client of inside) expect(clients.find(LOCAL, client), client).toBe(null)
})

test('if several users list a client, the leased address decides; if that is shared too, none is guessed', () => {
  const clients = new OpenClients()
  const [one, other] = [leaseOf('192.0.2.1/32', '198.51.100.7/32'), leaseOf('192.0.2.2/32', '198.51.100.7/32')]
  // Listing the same client twice is not ambiguous.
  const third = leaseOf('192.0.2.1/32', '198.51.100.8/32', '198.51.100.0/24')
  for (const lease of [one, other, third]) clients.add(lease)
  expect(clients.find(LOCAL, '198.51.100.8')).toBe(third)
  expect(clients.find(LOCAL, '198.51.100.7')).toBe('ambiguous')
  expect(clients.find(parseAddress('192.0.2.2') ?? expect.fail(), '198.51.100.7')).toBe(other)
  clients.remove(third)
  expect(clients.find(LOCAL, '198.51.100.7')).toBe(one)
  clients.remove(third)
  clients.remove(one)
  expect(clients.find(LOCAL, '198.51.100.7')).toBe(null)
  expect(clients.find(parseAddress('192.0.2.2') ?? expect.fail(), '198.51.100.7')).toBe(other)
})

test('an invalid prefix lets no client in', () => {
  const clients = new OpenClients()
  const lease = leaseOf('192.0.2.1/32', 'somewhere', '198.51.100.7/32')
  clients.add(lease)
  expect(clients.find(LOCAL, '198.51.100.7')).toBe(lease)
})
