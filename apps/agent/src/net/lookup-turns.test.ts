import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LookupTurns } from './resolver.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Lookups by user, in the order of the questions; `answer` answers the oldest ones. */
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
  /** @param excess addresses beyond the limit */
  const answer = (count: number, excess = 0): void => {
    for (const answered of open.splice(0, count)) answered(excess)
  }
  return { turns, asked, add, answer }
}

test('questions at once are limited for a user and for all users, and users take turns', () => {
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

test('a user with few questions goes on while silent names of others hold all places', () => {
  const { asked, add, answer } = lookups()
  for (let user = 0; user < 20; user++) add(`silent ${user}`, 100)
  const before = asked.length
  add('u', 5)
  expect(asked.slice(before)).toEqual(['u', 'u', 'u', 'u'])
  answer(before)
  expect(asked.filter(user => user === 'u')).toHaveLength(5)
})

test('answers that are too large delay their user in proportion, at most a minute, and no other user', async () => {
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

test('waiting names are limited, and a name that is not needed any more takes no place', () => {
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
