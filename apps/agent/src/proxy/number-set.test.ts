import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet } from './domain-names.ts'

test('a set of numbers contains what was added, before and after each shrink', () => {
  const numbers = fc.array(fc.oneof(fc.nat(300), fc.nat(70_000), fc.nat(0xffff_ffff)), { maxLength: 200 })
  fc.assert(
    fc.property(numbers, numbers, fc.nat(20_000), (first, second, run) => {
      const set = new NumberSet()
      const expected = new Set<number>()
      const add = (value: number): void => {
        expect(set.add(value)).toBe(!expected.has(value))
        expected.add(value)
      }
      for (const value of first) add(value)
      // Enough for some blocks to stay bits.
      for (let value = 0; value < run; value++) if (set.add(value)) expected.add(value)
      set.shrink()
      for (const value of second) add(value)
      set.shrink()
      expect(set.size).toBe(expected.size)
      expect([...set].toSorted((a, b) => a - b)).toEqual([...expected].toSorted((a, b) => a - b))
      expect([...first, ...second, run].every(value => set.has(value) === expected.has(value))).toBe(true)
    }),
    { numRuns: 30 }
  )
})
