import { expect, test } from 'vitest'
import { LineLimit, REFUSALS, STRANGERS } from './strangers.ts'

const written = (lines: LineLimit, one: string, user: string): number =>
  Array.from({ length: 130 }, () => lines.allows(one, user)).filter(Boolean).length

test('lines are limited for each client and for all clients; omitted lines are reported once', () => {
  const lines = new LineLimit(STRANGERS)
  expect(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(client => written(lines, client, '-'))).toEqual([20, 20, 10])
  expect([...lines.takeLeftOut()]).toEqual([['-', 340]])
  expect(lines.takeLeftOut().size).toBe(0)
  expect(written(lines, '192.0.2.3', '-')).toBe(20)
})

test('each user has its own lines, and omitted lines are reported for each user', () => {
  const lines = new LineLimit(REFUSALS)
  for (const user of ['a', 'b']) expect(written(lines, user, user)).toBe(100)
  expect([...lines.takeLeftOut()]).toEqual([
    ['a', 30],
    ['b', 30]
  ])
  expect(written(lines, 'a', 'a')).toBe(100)
})
