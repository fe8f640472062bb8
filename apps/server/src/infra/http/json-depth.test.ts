import { expect, test } from 'vitest'
import { isDeeperThan } from './json-depth.ts'

test.each([
  ['', 0, false],
  ['5', 0, false],
  ['{}', 0, true],
  ['{"a":[1]}', 2, false],
  ['{"a":[{}]}', 2, true],
  ['[[],[],[]]', 2, false],
  ['{"a":"[[[[{{{{"}', 1, false],
  ['{"a":"\\"[[[["}', 1, false],
  [String.raw`{"a":"\\","b":[[]]}`, 2, true],
  ['['.repeat(100_000), 200, true]
])('%j deeper than %i: %j', (json, most, deeper) => {
  expect(isDeeperThan(json, most)).toBe(deeper)
})
