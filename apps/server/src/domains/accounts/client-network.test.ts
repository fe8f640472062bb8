import { expect, test } from 'vitest'
import { clientAddress } from '../../infra/http/client-address.ts'
import { clientNetwork } from './client-network.ts'

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:2::1', '2001:db8:1:2::'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::'],
  ['2001:db8::1', '2001:db8:0:0::'],
  ['::1', '0:0:0:0::'],
  ['fe80::1', 'fe80:0:0:0::']
])('%s counts as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network)
})

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['not an address', '127.0.0.1'],
  ['198.51.100.7:443', '127.0.0.1']
])('a client that is said to be %s is %s', (ip, address) => {
  const request = { ip, socket: { remoteAddress: '127.0.0.1' } } as Parameters<typeof clientAddress>[0]
  expect(clientAddress(request)).toBe(address)
})
