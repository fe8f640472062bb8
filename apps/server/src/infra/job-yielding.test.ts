import { describe, expect, test } from 'vitest'
import { createYielding } from './jobs.ts'

/** A clock that moves only by the pauses. */
function testYielding() {
  let now = 0
  const yielding = createYielding({
    now: () => now,
    pause: async milliseconds => {
      now += milliseconds
    }
  })
  return { ...yielding, now: () => now, pass: (milliseconds: number) => (now += milliseconds) }
}

describe('a background job', () => {
  test('runs at once if no urgent job runs', async () => {
    const { background, now } = testYielding()
    await background(async () => undefined)
    expect(now()).toBe(0)
  })

  test('waits until an urgent job has ended, and for the next one of the same order', async () => {
    const { urgent, background, now, pass } = testYielding()
    const running = Promise.withResolvers<void>()
    const first = urgent(() => running.promise)
    pass(60)
    running.resolve()
    await first
    let begun = -1
    await background(async () => void (begun = now()))
    expect(begun).toBeGreaterThanOrEqual(60 + 50)
    expect(begun).toBeLessThan(60 + 100)
  })

  test('runs after half a second even if urgent jobs continue', async () => {
    const { urgent, background, now } = testYielding()
    const running = Promise.withResolvers<void>()
    const first = urgent(() => running.promise)
    await background(async () => undefined)
    expect(now()).toBe(500)
    running.resolve()
    await first
  })

  test('does not wait for an urgent job that failed', async () => {
    const { urgent, background, now, pass } = testYielding()
    await expect(urgent(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    pass(50)
    await background(async () => undefined)
    expect(now()).toBe(50)
  })
})
