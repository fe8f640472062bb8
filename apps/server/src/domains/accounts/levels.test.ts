import { expect, test } from 'vitest'
import { levelOf } from './levels.ts'

test('a level is the highest whose threshold is reached', () => {
  const thresholds = [100, 5000, 10_000, 20_000, 50_000].map((point, at) => ({ level: at + 1, point }))
  const levels = [0, 99, 100, 4999, 5000, 49_999, 50_000, 10 ** 9].map(points => levelOf(points, thresholds))
  expect(levels).toEqual([0, 0, 1, 1, 2, 4, 5, 5])
  expect(levelOf(60_000, thresholds.toReversed())).toBe(5)
  expect(levelOf(10, [])).toBe(0)
})
