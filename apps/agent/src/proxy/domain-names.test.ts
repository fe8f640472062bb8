import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AccessTable } from './access-table.ts'
import { DenySet } from './deny-set.ts'
import { DomainNames } from './domain-names.ts'
import { NumberSet } from './number-set.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void
const heapMb = (): number => {
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

test('a set of numbers has what was added, before and after it is shrunk, and once more', () => {
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
      // Some blocks are better kept as bits.
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

describe('the names of deny sets', () => {
  test('weigh once what they weigh, however many combinations there are of them', () => {
    const rules = Array.from({ length: 50 }, (_, r) =>
      Array.from({ length: 200 }, (__, d) => `site-${d}.rule-${r}.example`)
    )
    const accessTable = new AccessTable()
    const put = (n: number): void => {
      // Copies, as they come out of a message.
      const domains = rules.filter((_, r) => (n >> (r % 10)) & 1).flatMap(rule => rule.map(name => `${name}.com`))
      accessTable.apply([{ op: 'deny-set', hash: `hash-${n}`, domains }])
    }
    put(1023)
    const before = heapMb()
    for (let n = 0; n < 200; n++) put(n)
    // Sets of names of their own weighed 70 MB.
    expect(heapMb() - before).toBeLessThan(3)
    expect(accessTable.names.size).toBe(10_000)
  })

  test('go with the last set that nobody can judge by any more', async () => {
    const names = new DomainNames()
    const kept = new DenySet(['kept.example', 'both.example'], names).seal()
    let dropped: DenySet | null = new DenySet(
      ['both.example', 'dropped.example', '!open.dropped.example'],
      names
    ).seal()
    expect(dropped.deniesName('www.dropped.example')).toBe(true)
    dropped = null
    await expect
      .poll(() => {
        gc()
        return names.size
      })
      .toBe(2)
    expect(names.numberOf('dropped.example')).toBe(undefined)
    // A number that is free again means the new name to the new set alone.
    const next = new DenySet(['next.example'], names).seal()
    expect(kept.deniesName('next.example')).toBe(false)
    expect(kept.deniesName('a.both.example')).toBe(true)
    expect(next.deniesName('next.example')).toBe(true)
    expect(dropped).toBe(null)
  })
})
