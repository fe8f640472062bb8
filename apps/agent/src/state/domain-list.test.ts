import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { AccessTable } from '../proxy/access-table.ts'
import { DomainNames } from '../proxy/domain-names.ts'
import { Definitions, DomainList, type Op } from './definitions.ts'
import { piecesOf } from '../workers/worker-process.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void
const heapMb = (): number => {
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

describe('deny lists of the managing process', () => {
  test('take their memory once, for any number of combinations of rules', () => {
    const rules = Array.from({ length: 50 }, (_, r) =>
      Array.from({ length: 200 }, (__, d) => `site-${d}.rule-${r}.example`)
    )
    const definitions = new Definitions()
    const put = (n: number): void => {
      // Copies, as they come from a request.
      const domains = rules.filter((_, r) => (n >> (r % 10)) & 1).flatMap(rule => rule.map(name => `${name}.com`))
      definitions.apply([{ op: 'deny-set', hash: `hash-${n}`, domains }], 1)
    }
    put(1023)
    const before = heapMb()
    for (let n = 0; n < 200; n++) put(n)
    // Separate lists of texts took 70 MB.
    expect(heapMb() - before).toBeLessThan(3)
  })

  test('read the same in the file and in a worker as they were put, even after their removal', () => {
    const definitions = new Definitions()
    const domains = ['!open.denied.test', '10.0.0.0/8', ...Array.from({ length: 2500 }, (_, n) => `site-${n}.test`)]
    definitions.apply([{ op: 'deny-set', hash: 'h', domains }], 1)
    const ops = [...definitions.snapshot()].flatMap(entry => entry.ops)
    const undo = definitions.apply([{ op: 'deny-set', hash: 'h', domains: null }], 2)
    gc()
    const file = JSON.parse(JSON.stringify(ops)) as Op[]
    const inFile = file.find(op => op.op === 'deny-set')?.domains ?? []
    expect([...inFile].toSorted()).toEqual(domains.toSorted())
    const table = new AccessTable()
    for (const piece of piecesOf(ops)) {
      if (piece.type === 'entries') table.prepare(piece.list, piece.entries)
      else table.apply(structuredClone(piece.ops))
    }
    const record = { password: 'p', prefixes: [], denySet: 'h', allowedClientIps: [] }
    table.apply([{ op: 'user', user: 'u', record }])
    const deny = table.lease('u')?.deny
    expect([deny?.deniesName('a.site-2499.test'), deny?.deniesName('site-2500.test')]).toEqual([true, false])
    undo()
    expect(definitions.denySets.get('h')?.toSorted()).toEqual(domains.toSorted())
    expect(definitions.denySets.get('h')?.length).toBe(2502)
  })

  test('do not keep the request that contained them', () => {
    const names = new DomainNames()
    const lists: DomainList[] = []
    const before = heapMb()
    for (let n = 0; n < 20; n++) {
      const request = `${'x'.repeat(1 << 20)} site-number-${n}.example.com`
      lists.push(new DomainList([request.slice(-25)], names))
    }
    expect(heapMb() - before).toBeLessThan(5)
    expect(lists).toHaveLength(20)
  })
})
