import { describe, expect, test } from 'vitest'
import { ConnectionLimits, defaultCaps, type Shares } from '../src/proxy/connection-limits.ts'
import { partOf } from '../src/proxy/speed-limit.ts'
import { SharedCounts } from '../src/workers/shared-counts.ts'

const told = (counts: SharedCounts<string>, again = false): Record<string, unknown> =>
  Object.fromEntries(counts.changes(again))

function counts(...workers: string[]): SharedCounts<string> {
  const made = new SharedCounts<string>()
  for (const worker of workers) made.join(worker)
  return made
}

describe('what workers are told of each other', () => {
  test('is nothing for thousands of small plans with a connection each, and one line for one that changes', () => {
    const shared = counts('a', 'b')
    shared.tell(
      'a',
      Array.from({ length: 4000 }, (_, n): Shares['open'][number] => [`user u${n}`, 1, 1 / 4])
    )
    expect(told(shared)).toEqual({})
    // Half of the plan: the next one may come to the other worker.
    shared.tell('a', [['user u7', 2, 2 / 4]])
    expect(told(shared)).toEqual({ b: [['user u7', 2, 0]] })
    shared.tell('b', [['user u7', 1, 1 / 4]])
    expect(told(shared)).toEqual({ a: [['user u7', 1, 2]], b: [['user u7', 2, 1]] })
    expect(told(shared)).toEqual({})
    shared.tell('a', [['user u7', 0, 0]])
    expect(told(shared)).toEqual({ a: [['user u7', 0, 0]], b: [['user u7', 0, 1]] })
  })

  test('is told once more while it is too many, to one that comes later, and of what other generations have', () => {
    const shared = counts('a', 'b')
    shared.tell('a', [['user u', 4, 1]])
    shared.tell('b', [['user u', 3, 3 / 4]])
    const both = { a: [['user u', 3, 4]], b: [['user u', 4, 3]] }
    expect([told(shared), told(shared), told(shared, true)]).toEqual([both, {}, both])
    shared.join('c')
    expect(told(shared)).toEqual({ c: [['user u', 7, 0]] })
    shared.leave('b')
    expect(told(shared)).toEqual({ a: [['user u', 0, 4]], c: [['user u', 4, 0]] })
    shared.setOthers({ open: [['user u', 2, 2 / 4]], speeds: [] })
    expect(told(shared)).toEqual({ a: [['user u', 2, 4]], c: [['user u', 6, 0]] })
    shared.setOthers({ open: [], speeds: [] })
    expect(told(shared)).toEqual({ a: [['user u', 0, 4]], c: [['user u', 4, 0]] })
    expect(shared.own.open).toEqual([['user u', 4, 1]])
  })

  test('comes from a worker as what changed', () => {
    const limits = new ConnectionLimits({ ...defaultCaps, processes: 2 })
    const leaseOf = () => ({ limits: { connections: 4 } }) as never
    const holder = (n: number) => ({ user: `u${n}`, address: `127.0.0.${n}`, client: 'c' })
    for (let n = 0; n < 100; n++) limits.open(holder(n), leaseOf())
    expect(limits.takeChanges(leaseOf)).toHaveLength(100)
    limits.open(holder(7), leaseOf())
    limits.closed(holder(8))
    expect(limits.takeChanges(leaseOf)).toEqual([
      ['user u7', 2, 0.5],
      ['user u8', 0, 0]
    ])
    expect(limits.takeChanges(leaseOf)).toEqual([])
  })
})

test('a speed is divided by use: each has what the others leave, and an even part at least', () => {
  const shared = counts('a', 'b', 'c')
  shared.tellSpeeds('a', [['u', 0.9, 1]])
  shared.tellSpeeds('b', [['u', 0.15, 1]])
  const speeds = Object.fromEntries(shared.speeds())
  expect(speeds).toEqual({ a: [['u', expect.closeTo(0.15), 1]], b: [['u', 0.9, 1]] })
  expect([partOf(0.15, 1), partOf(0.9, 1), partOf(0, 0), partOf(1.3, 3)]).toEqual([0.85, 0.5, 1, 0.25])
  // Both want all of it: within some rounds each has its half.
  let uses: [number, number] = [1, 0.6]
  for (let round = 0; round < 4; round++) uses = [partOf(uses[1], 1), partOf(uses[0], 1)]
  expect(uses).toEqual([0.5, 0.5])
  shared.tellSpeeds('b', [])
  expect(Object.fromEntries(shared.speeds())).toEqual({ a: [], b: [] })
  expect(Object.fromEntries(shared.speeds())).toEqual({})
})
