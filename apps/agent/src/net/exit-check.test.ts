import type { Dialled } from '@netlet/contract/exit-check'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { onEnd } from '../../test/base.ts'
import { anyAddress, checkExit, verdictOf } from '../api/live.ts'
import { parseAddress, parsePrefix, type Prefix } from './ip.ts'

const prefixOf = (text: string): Prefix => {
  const prefix = parsePrefix(text)
  if (prefix === null) throw new Error(text)
  return prefix
}

test.each([
  ['an answer came back', ['silent', 'refused'], ['silent', 'silent'], 'reachable'],
  ['only to the server itself', ['silent', 'unreachable'], ['silent', 'connected'], 'no_neighbour'],
  ['nothing may leave', ['no_egress'], ['connected'], 'no_egress'],
  ['no answer to either', ['silent', 'not_found'], ['silent', 'not_found'], 'no_network']
] as const)('%s', (_, found: readonly Dialled[], own: readonly Dialled[], verdict) => {
  const results = found.map((one, at) => ({ target: 'x:1', found: one, own: own[at] ?? 'silent' }))
  expect(verdictOf(results)).toBe(verdict)
})

test('a random address is inside the range, and in IPv6 never ::0 or ::1', () => {
  for (const text of ['2001:db8:7::/48', '2001:db8:7:8::/64', '2001:db8::fff0/124', '127.20.0.0/30']) {
    const prefix = prefixOf(text)
    for (let n = 0; n < 200; n++) {
      const address = parseAddress(anyAddress(prefix))
      const value = address === null ? -1n : address.v4 >= 0 ? BigInt(address.v4) : address.v6
      expect(value >= prefix.first && value <= prefix.last).toBe(true)
      if (text.endsWith('/48')) expect((value & 0xffff_ffff_ffff_ffffn) > 1n).toBe(true)
    }
  }
})

test('over the loopback a target is reachable whether it accepts or refuses the connection', async () => {
  const server = createServer(socket => socket.destroy())
  onEnd(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const check = await checkExit(prefixOf('127.20.0.0/24'), [{ host: '127.0.0.1', port }])
  expect(check).toMatchObject({ verdict: 'reachable', results: [{ found: 'connected', own: 'connected' }] })
  expect(check.address).toMatch(/^127\.20\.0\.\d+$/)
  await new Promise(resolve => server.close(resolve))
  const refused = await checkExit(prefixOf('127.20.0.0/24'), [{ host: '127.0.0.1', port }])
  expect(refused).toMatchObject({ verdict: 'reachable', results: [{ found: 'refused' }] })
})
