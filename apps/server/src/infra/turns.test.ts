import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

/** Begins `count` pieces of work that end when they are told to. */
function begin(turns: ReturnType<typeof createTurns>, begun: string[], name: string, options?: { first: boolean }) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ended = turns.take(async () => {
    begun.push(name)
    await promise
    return name
  }, options)
  return { ended, end: resolve }
}

test('so much runs at once, those who come first go first, and the others in the sequence in which they came', async () => {
  const turns = createTurns({ atOnce: 2, longest: 3 })
  const begun: string[] = []
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(name => begin(turns, begun, name))
  expect(turns.isFull()).toBe(false)
  const known = begin(turns, begun, 'known', { first: true })
  expect(begun).toEqual(['a', 'b'])
  expect(turns.isFull()).toBe(true)
  for (const work of [b, a, known, c, d]) {
    work?.end()
    await work?.ended
  }
  expect(begun).toEqual(['a', 'b', 'known', 'c', 'd'])
  expect(turns.isFull()).toBe(false)
})

test('work that fails hands its place on', async () => {
  const turns = createTurns({ atOnce: 1, longest: 1 })
  const failing = turns.take(() => Promise.reject(new Error('it fails')))
  const next = turns.take(async () => 'next')
  await expect(failing).rejects.toThrow('it fails')
  expect(await next).toBe('next')
})
