import { expect, test } from 'vitest'
import { sharedRead } from './stock-map.ts'

/** A clock that the test moves, and a read that counts its runs. */
function counted(ttl: number) {
  let time = 0
  let changes = 0
  let reads = 0
  const shared = sharedRead(
    () => new Date(time),
    ttl,
    async () => (reads += 1),
    () => changes
  )
  return { shared, pass: (ms: number) => (time += ms), change: () => (changes += 1) }
}

test('all who ask within its time share one read, as long as nothing changes', async () => {
  const { shared, pass } = counted(1000)
  expect(await Promise.all([shared(), shared()])).toEqual([1, 1])
  pass(999)
  expect(await shared()).toBe(1)
  pass(1)
  expect(await shared()).toBe(2)
})

test('who asks after a change is told what was read after it; all of these share one read', async () => {
  const { shared, change } = counted(20)
  expect(await shared()).toBe(1)
  change()
  expect(await Promise.all([shared(), shared(), shared()])).toEqual([2, 2, 2])
  expect(await shared()).toBe(2)
})

test('if the clock was set back, it is read again at once', async () => {
  const { shared, pass, change } = counted(1000)
  expect(await shared()).toBe(1)
  pass(-3_600_000)
  expect(await shared()).toBe(2)
  change()
  pass(-3_600_000)
  expect(await shared()).toBe(3)
})

test('a failed read is not kept', async () => {
  let reads = 0
  const shared = sharedRead(
    () => new Date(0),
    1000,
    async () => {
      reads += 1
      if (reads === 1) throw new Error('away')
      return reads
    }
  )
  await expect(shared()).rejects.toThrow('away')
  expect(await shared()).toBe(2)
})
