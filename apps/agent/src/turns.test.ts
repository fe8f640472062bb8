import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TurnBudget } from './turns.ts'

const rethrow = (error: unknown): never => {
  throw error
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** Milliseconds of work that blocks the loop. */
const work = (ms: number): void => void vi.advanceTimersByTime(ms)

test('waiting work runs in order, some milliseconds a turn, each piece once', async () => {
  const budget = new TurnBudget(rethrow)
  let turn = 0
  let isRunning = true
  const count = (): void => void setImmediate(() => isRunning && (turn++, count()))
  count()
  const done: Array<{ n: number; turn: number }> = []
  await new Promise<void>(resolve => {
    for (let n = 0; n < 30; n++)
      budget.later('a', () => {
        work(2)
        done.push({ n, turn })
        if (n === 29) resolve()
      })
  })
  isRunning = false
  expect(done.map(({ n }) => n)).toEqual(Array.from({ length: 30 }, (_, n) => n))
  const turns = Map.groupBy(done, one => one.turn)
  // Work that begins in time may end late.
  expect(Math.max(...[...turns.values()].map(({ length }) => length))).toBeLessThanOrEqual(2)
})

test('a turn is over after its time, and the next one has its own time', async () => {
  const budget = new TurnBudget(rethrow)
  expect(budget.isOver('a')).toBe(false)
  work(5)
  expect(budget.isOver('a')).toBe(true)
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
  expect(budget.isOver('a')).toBe(false)
})

test('a new owner waits for one step of each other owner, not for each of their connections', async () => {
  const budget = new TurnBudget(rethrow)
  const done: string[] = []
  const steps = (owner: string, each: number): void => {
    for (let n = 0; n < each; n++)
      budget.later(owner, () => {
        work(2)
        done.push(owner)
      })
  }
  steps('a', 20)
  steps('b', 20)
  await expect.poll(() => done.length).toBeGreaterThan(2)
  const before = done.length
  steps('late', 2)
  await expect.poll(() => done.length).toBe(42)
  expect(done.slice(before, before + 6).filter(owner => owner === 'late')).toHaveLength(2)
})

test('an owner’s new work waits behind its earlier work, and steps are short', async () => {
  const budget = new TurnBudget(rethrow)
  const done: string[] = []
  const rest = { a: 30, b: 3 }
  const go = (owner: 'a' | 'b'): void => {
    while (rest[owner] > 0) {
      if (budget.isOver(owner)) return budget.later(owner, () => go(owner))
      work(1.1)
      rest[owner]--
      done.push(owner)
    }
  }
  go('a')
  // Earlier work goes first, even if this turn did none of it.
  await new Promise(resolve => setImmediate(resolve))
  expect(rest.a).toBeGreaterThan(0)
  expect(budget.isOver('a')).toBe(true)
  go('b')
  await expect.poll(() => rest.a).toBe(0)
  expect(done.indexOf('b')).toBeLessThan(12)
  expect(done.lastIndexOf('b')).toBeLessThan(20)
})

test('of work that cannot wait, each owner gets some in a turn that is over, and the rest is lost', async () => {
  const budget = new TurnBudget(rethrow)
  const done = (owner: string): number =>
    Array.from({ length: 500 }, () => budget.isLost(owner)).filter(lost => !lost).length
  expect(budget.isLost('a')).toBe(false)
  work(5)
  expect([done('a'), done('b'), done('a')]).toEqual([64, 64, 0])
  await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
  expect(budget.isLost('a')).toBe(false)
})

test('strangers wait by client, and all of them together get the steps of one user', async () => {
  const budget = new TurnBudget(rethrow)
  const done: string[] = []
  const steps = (name: string, owner: string | object, each: number): void => {
    for (let n = 0; n < each; n++) budget.later(owner, () => done.push(name))
  }
  const clients = Array.from({ length: 10 }, () => ({}))
  for (const client of clients) steps('flood', client, 5)
  steps('stranger', {}, 2)
  steps('user', 'a', 4)
  expect([budget.isOver({}), ...clients.map(client => budget.isOver(client))]).toEqual([
    false,
    ...clients.map(() => true)
  ])
  await expect.poll(() => done.length).toBe(56)
  expect(done.lastIndexOf('user')).toBe(7)
  expect(done.indexOf('stranger')).toBe(14)
  expect(done.lastIndexOf('stranger')).toBe(25)
})

test('work that throws is reported, and no other work is lost', async () => {
  const told: unknown[] = []
  const budget = new TurnBudget(error => told.push(error))
  const mistake = new Error('a mistake')
  const done: string[] = []
  await new Promise<void>(resolve => {
    budget.later('a', () => {
      throw mistake
    })
    budget.later('a', () => done.push('behind it'))
    budget.later('b', () => done.push('of another'))
    budget.later('c', resolve)
  })
  await new Promise(resolve => setImmediate(resolve))
  expect([told, done.toSorted()]).toEqual([[mistake], ['behind it', 'of another']])
})
