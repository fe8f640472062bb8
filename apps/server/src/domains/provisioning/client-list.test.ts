import { expect, test } from 'vitest'
import { closedToOthers, shutsOut } from './layout.ts'

test('a list shuts the console out if it has addresses, but not the console’s', () => {
  const list = '198.51.100.7/32,2001:db8::/32'
  expect(shutsOut(list, '203.0.113.9')).toBe(true)
  expect(shutsOut(list, '2001:db9::1')).toBe(true)
  expect(shutsOut(list, '198.51.100.7')).toBe(false)
  expect(shutsOut(list, '2001:db8::5')).toBe(false)
  // An empty list, a machine's own address, and an unknown address.
  for (const [text, address] of [
    ['', '203.0.113.9'],
    [list, '127.0.0.1'],
    [list, ''],
    [list, null]
  ] as const)
    expect(shutsOut(text, address)).toBe(false)
})

test('a first installation lets only the console and its other machines in, and adds nothing if it cannot know', () => {
  const listOf = (address: string, others: string[] = [], settings: Record<string, string> = {}) =>
    closedToOthers(settings, address, others)['AGENT_ALLOW_CLIENTS']
  expect(listOf('203.0.113.9')).toBe('203.0.113.9/32')
  expect(listOf('203.0.113.9', ['198.51.100.0/24', '203.0.113.10'])).toBe(
    '198.51.100.0/24,203.0.113.9/32,203.0.113.10/32'
  )
  // Tomorrow it may have another address of its network.
  expect(shutsOut(listOf('2001:db8:1:2:aaaa::1') ?? '', '2001:db8:1:2:bbbb::7')).toBe(false)
  expect(shutsOut(listOf('2001:db8:1:2:aaaa::1') ?? '', '2001:db8:1:3::7')).toBe(true)
  expect(listOf('')).toBeUndefined()
  expect(listOf('127.0.0.1')).toBeUndefined()
  expect(listOf('203.0.113.9', [], { AGENT_ALLOW_CLIENTS: '' })).toBe('')
})
