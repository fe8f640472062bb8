import { expect, test } from 'vitest'
import { type ListNode, Strangers } from './strangers.ts'

const connection = (clientText: string): { clientText: string; stranger: ListNode | null; destroy: () => void } => ({
  clientText,
  stranger: null,
  destroy: () => {}
})

test('the oldest stranger of all and of each client stays known in any order of departures', () => {
  const strangers = new Strangers()
  const clients = ['1.1.1.1', '2.2.2.2', '2001:db8::1', '2001:db8::2']
  const made = Array.from({ length: 40 }, (_, n) => connection(clients[n % 4] ?? ''))
  for (const each of made) strangers.add(each)
  // Both IPv6 clients count as one, because they share a /64.
  expect(clients.map(client => strangers.countOf(client))).toEqual([10, 10, 20, 20])

  // Removes from the middle and both ends.
  const left = new Set(made)
  for (const n of [20, 0, 39, 1, 2, 3, 21, 38, 4, 5, 6, 7]) {
    const gone = made[n] ?? connection('')
    expect(strangers.delete(gone)).toBe(true)
    expect(strangers.delete(gone)).toBe(false)
    left.delete(gone)
    expect(strangers.oldest()).toBe([...left][0])
    expect(strangers.oldest('1.1.1.1')).toBe([...left].find(each => each.clientText === '1.1.1.1'))
    expect(strangers.oldest('2001:db8::9')).toBe([...left].find(each => each.clientText.includes(':')))
  }
  strangers.tidy()
  for (const each of left) strangers.delete(each)
  expect([strangers.oldest(), strangers.oldest('2.2.2.2'), strangers.countOf('2.2.2.2')]).toEqual([
    undefined,
    undefined,
    0
  ])
  strangers.tidy()
  const next = connection('2.2.2.2')
  strangers.add(next)
  expect([strangers.oldest(), strangers.countOf('2.2.2.2')]).toEqual([next, 1])
})
