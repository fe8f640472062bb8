import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { needsDatabase, select } from './selection.ts'

const STAGES = ['types', 'lint', 'unit', 'browser']
const FILES: Record<string, string> = {
  'apps/server/src/domains/orders/states.test.ts': "test('a paid order is delivered')",
  'apps/server/src/domains/orders/place-order.test.ts': "test('a paid order has a lease')",
  'apps/web/src/kit/kit.test.tsx': "const unrelated = 'no test'\ntest.each([1])('a button', () => {})",
  'e2e/demo.spec.ts': "test('a visitor buys a plan')"
}
const tests = { paths: Object.keys(FILES), read: (path: string) => FILES[path] ?? '' }
const of = (...words: string[]) => select(words, STAGES, tests, '/house')

describe('npm test --', () => {
  test('a stage by its name', () => {
    expect(of('lint', 'browser')).toEqual({ stages: ['lint', 'browser'], files: [] })
  })

  test.each([
    ['its path', 'apps/server/src/domains/orders/states.test.ts'],
    ['a path from here', './apps/server/src/domains/orders/states.test.ts'],
    ['an absolute path', '/house/apps/server/src/domains/orders/states.test.ts'],
    ['a part of its path', 'orders/states'],
    ['the source file beside it', 'apps/server/src/domains/orders/states.ts']
  ])('a file by %s', (_, word) => {
    expect(of(word)).toEqual({ stages: [], files: ['apps/server/src/domains/orders/states.test.ts'] })
  })

  test('a folder stands for all tests below it, once each', () => {
    const both = ['apps/server/src/domains/orders/states.test.ts', 'apps/server/src/domains/orders/place-order.test.ts']
    expect(of('apps/server/src/domains/orders/')).toEqual({ stages: [], files: both })
    expect(of('apps/server', 'orders')).toEqual({ stages: [], files: both })
  })

  test('tests by a part of their name, whatever its case', () => {
    const selection = { stages: [], files: ['e2e/demo.spec.ts'] }
    expect(of('buys a plan')).toEqual({ ...selection, name: 'buys a plan' })
    expect(of('Buys a plan')).toEqual({ ...selection, name: 'Buys a plan' })
  })

  test('the name of a test with examples', () => {
    expect(of('a button')).toEqual({ stages: [], files: ['apps/web/src/kit/kit.test.tsx'], name: 'a button' })
  })

  test('a name within a file', () => {
    expect(of('states', 'paid order')).toEqual({
      stages: [],
      files: ['apps/server/src/domains/orders/states.test.ts'],
      name: 'paid order'
    })
  })

  test.each([
    ['gone.test.ts'],
    ['--watch'],
    ['nothing of that name'],
    ['unrelated'],
    ['lint', 'nothing'],
    ['states', 'a button']
  ])('unknown words say what there is: %s %s', (...words) => {
    expect(of(...words)).toMatch(/Stages: types, lint, unit, browser\./)
  })
})

describe('needsDatabase', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const needs = (...paths: string[]) => needsDatabase(paths.map(path => join(root, path)))

  test('a pure rule needs none, what opens a shop does', () => {
    expect(needs('apps/server/src/domains/orders/states.test.ts')).toBe(false)
    expect(needs('apps/server/src/domains/accounts/users.test.ts')).toBe(true)
    expect(needs('apps/server/src/domains/orders/states.test.ts', 'apps/server/src/testing/database.test.ts')).toBe(
      true
    )
  })
})
