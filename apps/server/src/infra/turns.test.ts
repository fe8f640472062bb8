import { expect, test } from 'vitest'
import { createLimiter } from './turns.ts'

/** Begins `count` tasks, each of which ends on request. */
function begin(turns: ReturnType<typeof createLimiter>, begun: string[], name: string, options?: { first: boolean }) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ended = turns.take(async () => {
    begun.push(name)
    await promise
    return name
  }, options)
  return { ended, end: resolve }
}

test('at most the limit runs at once; tasks with priority go first, the others in their order of arrival', async () => {
  const turns = createLimiter({ atOnce: 2, longest: 3 })
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

test('a task that fails frees its place', async () => {
  const turns = createLimiter({ atOnce: 1, longest: 1 })
  const failing = turns.take(() => Promise.reject(new Error('it fails')))
  const next = turns.take(async () => 'next')
  await expect(failing).rejects.toThrow('it fails')
  expect(await next).toBe('next')
})
