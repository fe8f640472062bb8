import { expect, test } from 'vitest'
import { createLimiter } from './turns.ts'

/** Begins tasks that end on request, in the order of their turns. */
function begin(limits: Parameters<typeof createLimiter>[0]) {
  const turns = createLimiter(limits)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const all: Promise<void>[] = []
  return {
    turns,
    begun,
    add: (name: string, options?: Parameters<typeof turns.take>[1]) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      all.push(
        turns.take(async () => {
          begun.push(name)
          ends.push(resolve)
          await promise
        }, options)
      )
    },
    endAll: async () => {
      while (ends.length > 0) {
        ends.shift()?.()
        await new Promise(resolve => setImmediate(resolve))
      }
      await Promise.all(all)
    }
  }
}

test('at most the limit runs at once, others in their order of arrival', async () => {
  const { turns, add, begun, endAll } = begin({ atOnce: 2, longest: 3 })
  for (const name of ['a', 'b', 'c', 'd']) add(name)
  expect(begun).toEqual(['a', 'b'])
  expect(turns.isFull()).toBe(false)
  add('e')
  expect(turns.isFull()).toBe(true)
  await endAll()
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(turns.isFull()).toBe(false)
})

test('a flood of one key delays its own work: every other key gets its turn, and both lines go on', async () => {
  const { turns, add, begun, endAll } = begin({ atOnce: 1, longest: 100, each: 4 })
  add('running')
  for (const name of ['flood 1', 'flood 2', 'flood 3', 'flood 4']) add(name, { key: 'flood', first: true })
  expect(turns.isFull({ key: 'flood', first: true })).toBe(true)
  expect(turns.isFull({ key: 'owner', first: true })).toBe(false)
  add('owner', { key: 'owner', first: true })
  for (const name of ['stranger 1', 'stranger 2']) add(name, { key: 'one' })
  add('stranger 3', { key: 'other' })
  await endAll()
  const order = 'running, flood 1, stranger 1, owner, stranger 3, flood 2, stranger 2, flood 3, flood 4'
  expect(begun.join(', ')).toBe(order)
})

test('a task that fails frees its place', async () => {
  const turns = createLimiter({ atOnce: 1, longest: 1 })
  const failing = turns.take(() => Promise.reject(new Error('it fails')))
  const next = turns.take(async () => 'next')
  await expect(failing).rejects.toThrow('it fails')
  expect(await next).toBe('next')
})
