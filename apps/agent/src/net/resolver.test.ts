import { expect, test } from 'vitest'
import { CachingResolver } from './resolver.ts'

test('who waits for one answer goes on in several turns of the loop, each once', async () => {
  const resolver = new CachingResolver()
  let turn = 0
  const next = (): void => void setImmediate(() => (turn++, answered.length < 200 && next()))
  const answered: number[] = []
  next()
  await new Promise<void>(resolve => {
    // A label of 64 characters is no name: the answer comes without a question to anybody, and not at once.
    for (let n = 0; n < 200; n++)
      resolver.resolve(`${'a'.repeat(64)}.test`, 4, answer => {
        expect(answer).toEqual({ ok: false, reason: 'not-found' })
        answered.push(turn)
        if (answered.length === 200) resolve()
      })
    expect(answered).toHaveLength(0)
  })
  const turns = [...Map.groupBy(answered, at => at).values()]
  expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(16)
  expect(resolver.figures.lookups).toBe(1)
})
