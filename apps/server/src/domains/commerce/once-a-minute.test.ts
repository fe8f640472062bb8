import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { onceAMinute } from './refused-webhooks.ts'

let fails = false
let written: number[] = []
const note = onceAMinute<number>({
  merge: (before, next) => before + next,
  write: async (_ctx, value) => {
    if (fails) throw new Error('the database is away')
    written.push(value)
  }
})
/** The only parts of the context that it uses. */
const context = () => ({ now: () => new Date(), log: { warn: vi.fn() } }) as unknown as AppContext

beforeEach(() => {
  vi.useFakeTimers()
  written = []
  fails = false
})
afterEach(() => vi.useRealTimers())

test('a flood is two writes in its minute: the first at once, all others when it is over', async () => {
  const ctx = context()
  for (let at = 0; at < 1000; at++) await note(ctx, 'one', 1)
  expect(written).toEqual([1])
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(written).toEqual([1, 999])
  await vi.advanceTimersByTimeAsync(10 * MINUTE)
  expect(written).toEqual([1, 999])
  expect(vi.getTimerCount()).toBe(0)
})

test('each name and each process writes for itself', async () => {
  const [ctx, other] = [context(), context()]
  await note(ctx, 'one', 1)
  await note(ctx, 'two', 2)
  await note(other, 'one', 3)
  expect(written).toEqual([1, 2, 3])
})

test('what could not be written is said once and written with the next minute', async () => {
  const ctx = context()
  fails = true
  await note(ctx, 'one', 1)
  await note(ctx, 'one', 1)
  expect(ctx.log.warn).toHaveBeenCalledTimes(1)
  fails = false
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(written).toEqual([2])
})

test('a minute ends by the clock even if the timer is late', async () => {
  const ctx = context()
  await note(ctx, 'one', 1)
  await note(ctx, 'one', 1)
  vi.setSystemTime(Date.now() + MINUTE)
  await note(ctx, 'one', 1)
  expect(written).toEqual([1, 2])
  expect(vi.getTimerCount()).toBe(1)
})
