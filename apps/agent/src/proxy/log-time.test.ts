import { expect, test } from 'vitest'
import { LogTime } from '../log/access-log.ts'

test('times of the log equal toISOString, within a second and across seconds in both directions', () => {
  const time = new LogTime()
  const start = Date.UTC(2026, 1, 28, 23, 59, 59, 0)
  for (const after of [0, 7, 7, 42, 999, 1000, 1001, 86_400_000, 3, 500]) {
    expect(time.at(start + after)).toBe(new Date(start + after).toISOString())
  }
})
