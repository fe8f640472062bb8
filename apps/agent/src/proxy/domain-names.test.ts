import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AccessTable } from './access-table.ts'
import { DenySet } from './deny-set.ts'
import { DomainNames, NumberSet } from './domain-names.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void
const heapMb = (): number => {
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

test('names keep their numbers while any set holds them, through all additions and releases', async () => {
  // Few letters and labels, so that many names are equal, share ends, and collide.
  const name = fc
    .array(fc.stringMatching(/^[ab]{1,9}$/), { minLength: 1, maxLength: 30 })
    .map(labels => labels.join('.'))
  const sets = fc.array(fc.array(name, { maxLength: 60 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(sets, fc.array(name, { maxLength: 20 }), fc.nat(0xff), async (lists, asked, kept) => {
      const names = new DomainNames()
      const held = lists.map(list => {
        const set = new NumberSet()
        for (const one of list) names.hold(one, set)
        return set
      })
      await names.release(held.filter((_, n) => ((kept >> n) & 1) === 0))
      const more = new NumberSet()
      for (const one of asked) names.hold(one, more)
      const expected = new Set([...lists.filter((_, n) => ((kept >> n) & 1) !== 0).flat(), ...asked])
      expect(names.size).toBe(expected.size)
      const numbers = new Set<number>()
      for (const one of [...lists.flat(), ...asked]) {
        const number = names.numberOf(one)
        expect(number !== undefined, one).toBe(expected.has(one))
        if (number === undefined) continue
        numbers.add(number)
        expect(names.nameOf(number)).toBe(one)
        const labels = one.split('.')
        const above = labels.map((_, n) => labels.slice(n).join('.')).filter(each => expected.has(each))
        const found: number[] = []
        const count = names.numbersAbove(one, found)
        expect(found.slice(0, count).map(each => names.nameOf(each))).toEqual(above.toReversed())
      }
      expect(numbers.size).toBe(expected.size)
    }),
    { numRuns: 100 }
  )
})

test('many names are found once they are held, and gone once they are released', async () => {
  const names = new DomainNames()
  const set = new NumberSet()
  const all = Array.from({ length: 50_000 }, (_, n) => `site-${n}.list.example`)
  for (const name of all) names.hold(name, set)
  expect(all.every(name => names.numberOf(name) !== undefined)).toBe(true)
  expect(names.numberOf('site-50000.list.example')).toBe(undefined)
  expect(names.numberOf('site-\u0130.list.example')).toBe(undefined)
  await names.release([set])
  expect(names.size).toBe(0)
  expect(all.some(name => names.numberOf(name) !== undefined)).toBe(false)
})

describe('the names of deny sets', () => {
  test('take their memory once, for any number of combinations', () => {
    const rules = Array.from({ length: 50 }, (_, r) =>
      Array.from({ length: 200 }, (__, d) => `site-${d}.rule-${r}.example`)
    )
    const accessTable = new AccessTable()
    const put = (n: number): void => {
      // Copies, as they come from a message.
      const domains = rules.filter((_, r) => (n >> (r % 10)) & 1).flatMap(rule => rule.map(name => `${name}.com`))
      accessTable.apply([{ op: 'deny-set', hash: `hash-${n}`, domains }])
    }
    put(1023)
    const before = heapMb()
    for (let n = 0; n < 200; n++) put(n)
    // With names per set this took 70 MB.
    expect(heapMb() - before).toBeLessThan(3)
    expect(accessTable.names.size).toBe(10_000)
  })

  test('are released with the last set that is still reachable', async () => {
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
    // A reused number means the new name only to the new set.
    const next = new DenySet(['next.example'], names).seal()
    expect(kept.deniesName('next.example')).toBe(false)
    expect(kept.deniesName('a.both.example')).toBe(true)
    expect(next.deniesName('next.example')).toBe(true)
    expect(dropped).toBe(null)
  })
})
