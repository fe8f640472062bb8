import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { LOCKS } from './locks.ts'

const server = fileURLToPath(new URL('../../../', import.meta.url))

/** The first numbers of advisory locks that these files take by a literal, each with its file. */
const literalsIn = (pattern: string) =>
  globSync(pattern, { cwd: server }).flatMap(file => {
    const calls = readFileSync(join(server, file), 'utf8').matchAll(/\bpg_\w*advisory\w*\(\s*(\d+)/g)
    return [...calls].map(([, number]) => ({ file, number: Number(number) }))
  })

test('each purpose has a number of its own', () => {
  const numbers = Object.values(LOCKS)
  expect(new Set(numbers).size).toBe(numbers.length)
})

test('every advisory lock that is taken by a literal is in the registry', () => {
  const registered: number[] = Object.values(LOCKS)
  const migrations = literalsIn('migrations/*.sql')
  expect(new Set(migrations.map(({ number }) => number))).toEqual(new Set([LOCKS.inventory, LOCKS.inventoryChunk]))
  const all = [...migrations, ...literalsIn('src/**/*.ts')]
  expect(all.filter(({ number }) => !registered.includes(number))).toEqual([])
})
