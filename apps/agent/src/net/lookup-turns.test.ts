import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LookupTurns } from './lookup-turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Lookups by name, in the sequence in which they were asked; each is answered by `answer`. */
function lookups() {
  const turns = new LookupTurns()
  const asked: string[] = []
  const open: Array<(excess: number) => void> = []
  const add = (user: string, count = 1): void => {
    for (let n = 0; n < count; n++)
      turns.add(user, answered => {
        asked.push(user)
        open.push(answered)
        return true
      })
  }
  /** @param excess addresses that are too many */
  const answer = (count: number, excess = 0): void => {
    for (const answered of open.splice(0, count)) answered(excess)
  }
  return { turns, asked, add, answer }
}

test('a user has so many questions at once, all users together so many, and they have theirs by turns', () => {
  const { asked, add, answer } = lookups()
  add('a', 100)
  expect(asked).toHaveLength(32)
  for (const user of ['b', 'c', 'd']) add(user, 100)
  expect(asked).toHaveLength(128)
  add('e', 100)
  const few = Array.from({ length: 4 }, () => 'e')
  expect(asked.slice(128)).toEqual(few)
  answer(4)
  expect(asked).toHaveLength(132)
  answer(4)
  expect(asked.slice(132)).toEqual(['e', 'a', 'e', 'a'])
  answer(24)
  answer(10)
  // The answers were to `a`, then to `b`.
  expect(asked.slice(160)).toEqual(['e', 'a', 'b', 'e', 'a', 'b', 'e', 'a', 'b', 'e'])
})

test('a user who has few questions goes on although others have all places, and none of theirs is answered', () => {
  const { asked, add, answer } = lookups()
  for (let user = 0; user < 20; user++) add(`silent ${user}`, 100)
  const before = asked.length
  add('u', 5)
  expect(asked.slice(before)).toEqual(['u', 'u', 'u', 'u'])
  answer(before)
  expect(asked.filter(user => user === 'u')).toHaveLength(5)
})

test('too large answers hold up their user for as long as they are large, a minute at most, and nobody else', async () => {
  const { asked, add, answer } = lookups()
  add('a', 3)
  answer(3, 1000)
  add('a')
  add('b')
  expect(asked).toEqual(['a', 'a', 'a', 'b'])
  await vi.advanceTimersByTimeAsync(2900)
  expect(asked).toHaveLength(4)
  await vi.advanceTimersByTimeAsync(200)
  expect(asked).toEqual(['a', 'a', 'a', 'b', 'a'])
  answer(2, 1_000_000)
  add('a')
  await vi.advanceTimersByTimeAsync(60_100)
  expect(asked).toHaveLength(6)
})

test('names that wait are bounded, and one that nobody needs any more takes no place', () => {
  const { turns, asked, add } = lookups()
  add('a', 1031)
  expect(turns.hasRoom('a')).toBe(true)
  add('a')
  expect(turns.hasRoom('a')).toBe(false)
  expect(turns.hasRoom('b')).toBe(true)
  for (let n = 0; n < 100; n++) turns.add('b', () => false)
  add('b', 32)
  expect(asked.filter(user => user === 'b')).toHaveLength(32)
})
