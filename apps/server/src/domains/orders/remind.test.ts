import { expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { remindersBefore } from './remind.ts'

test.each([
  [1, 8, null],
  [2, 16, 16 / 3],
  [3, 24, 8],
  [7, 56, 56 / 3],
  [9, 72, 24],
  [30, 72, 24],
  [365, 72, 24]
])('a term of %i days is reminded of %d hours before its end, and again %d hours before', (days, first, last) => {
  const before = remindersBefore(days)
  expect(before.first).toBeCloseTo(first * HOUR, 0)
  if (last === null) expect(before.last).toBeNull()
  else expect(before.last).toBeCloseTo(last * HOUR, 0)
  // Never right after the delivery, and the last one on the last day.
  expect(before.first).toBeLessThanOrEqual((days * DAY) / 3)
  expect(before.last ?? 0).toBeLessThanOrEqual(DAY)
})
