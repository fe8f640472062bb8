import { expect, test } from 'vitest'
import { RecentSet } from './login-guard.ts'

const numbers = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => String(first + n))

test('a set of recent values keeps at least half of its size, never more than its size, and values that are used again', () => {
  const set = new RecentSet(10)
  for (const value of numbers(1, 100)) {
    set.add(value)
    set.add('again and again')
  }
  const known = numbers(1, 100).filter(value => set.has(value))
  expect(known.length).toBeGreaterThanOrEqual(4)
  expect(known.length).toBeLessThan(10)
  expect(known.at(-1)).toBe('100')
  expect(set.has('again and again')).toBe(true)
})

test('a deleted value is gone, even from the older half', () => {
  const set = new RecentSet(4)
  set.add('a')
  for (const value of numbers(1, 2)) set.add(value)
  expect(set.has('a')).toBe(true)
  set.add('a')
  set.delete('a')
  expect(set.has('a')).toBe(false)
})
