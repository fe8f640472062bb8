import { describe, expect, test } from 'vitest'
import { ConnectionLimits, defaultCaps, type Shares } from '../proxy/connection-limits.ts'
import { partOf } from '../proxy/speed-limit.ts'
import { SharedCounts } from './shared-counts.ts'

const told = (counts: SharedCounts<string>, again = false): Record<string, unknown> =>
  Object.fromEntries(counts.changes(again))

function counts(...workers: string[]): SharedCounts<string> {
  const made = new SharedCounts<string>()
  for (const worker of workers) made.join(worker)
  return made
}

describe('what workers learn of each other', () => {
  test('is nothing for thousands of small plans with one connection each, and one line for one that changes', () => {
    const shared = counts('a', 'b')
    shared.tell(
      'a',
      Array.from({ length: 4000 }, (_, n): Shares['open'][number] => [`user u${n}`, 1, 1 / 4])
    )
    expect(told(shared)).toEqual({})
    // At half of the plan, because the next connection may come to the other worker.
    shared.tell('a', [['user u7', 2, 2 / 4]])
    expect(told(shared)).toEqual({ b: [['user u7', 2, 0]] })
    shared.tell('b', [['user u7', 1, 1 / 4]])
    expect(told(shared)).toEqual({ a: [['user u7', 1, 2]], b: [['user u7', 2, 1]] })
    expect(told(shared)).toEqual({})
    shared.tell('a', [['user u7', 0, 0]])
    expect(told(shared)).toEqual({ a: [['user u7', 0, 0]], b: [['user u7', 0, 1]] })
  })

  test('is repeated while it is too many, sent to a later worker, and includes other generations', () => {
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

  test('comes from a worker as changes only', () => {
    const limits = new ConnectionLimits({ ...defaultCaps, processes: 2 })
    const leaseOf = () => ({ limits: { connections: 4 } }) as never
    const holder = (n: number) => ({ user: `u${n}`, address: `127.0.0.${n}`, client: 'c' })
    for (let n = 0; n < 100; n++) limits.admitConnection(holder(n), leaseOf())
    expect(limits.takeChanges(leaseOf)).toHaveLength(100)
    limits.admitConnection(holder(7), leaseOf())
    limits.closed(holder(8))
    expect(limits.takeChanges(leaseOf)).toEqual([
      ['user u7', 2, 0.5],
      ['user u8', 0, 0]
    ])
    expect(limits.takeChanges(leaseOf)).toEqual([])
  })
})

test('a speed is divided by use: each worker gets what the others leave, and at least an even part', () => {
  const shared = counts('a', 'b', 'c')
  shared.tellSpeeds('a', [['u', 0.9, 1]])
  shared.tellSpeeds('b', [['u', 0.15, 1]])
  const speeds = Object.fromEntries(shared.speeds())
  expect(speeds).toEqual({ a: [['u', expect.closeTo(0.15), 1]], b: [['u', 0.9, 1]] })
  expect([partOf(0.15, 1), partOf(0.9, 1), partOf(0, 0), partOf(1.3, 3)]).toEqual([0.85, 0.5, 1, 0.25])
  // Both want the whole speed. After some rounds each has half.
  let uses: [number, number] = [1, 0.6]
  for (let round = 0; round < 4; round++) uses = [partOf(uses[1], 1), partOf(uses[0], 1)]
  expect(uses).toEqual([0.5, 0.5])
  shared.tellSpeeds('b', [])
  expect(Object.fromEntries(shared.speeds())).toEqual({ a: [], b: [] })
  expect(Object.fromEntries(shared.speeds())).toEqual({})
})

const lease20 = { limits: { connections: 20 } } as never
const holder = { user: 'u', address: '127.0.0.1', client: '127.0.0.2' }

function opened(count: number): ConnectionLimits {
  const limits = new ConnectionLimits({ ...defaultCaps, processes: 2 })
  for (let n = 0; n < count; n++) expect(limits.admitConnection(holder, lease20)).toBeNull()
  return limits
}
const surplusOf = (limits: ConnectionLimits, elsewhere: number, told: number): unknown[] =>
  limits.setElsewhere([['user u', elsewhere, told]], () => lease20, false)

describe('of connections that several workers let in at the same moment', () => {
  test('each worker keeps its share of the limit, also when the counts are repeated', () => {
    const limits = opened(20)
    const surplus = { kind: 'user', key: 'u', keep: 10, note: 'too-many' }
    expect(surplusOf(limits, 20, 20)).toMatchObject([surplus])
    for (let n = 0; n < 10; n++) limits.closed(holder)
    // A repeated count from before the others ended theirs.
    expect(surplusOf(limits, 20, 20)).toEqual([])
    // An excess of up to a quarter stays, and so do connections that were never reported.
    expect(surplusOf(opened(15), 10, 15)).toEqual([])
    expect(surplusOf(opened(4), 40, 0)).toEqual([])
  })

  test('large counts are reported until they are small, and again if the plan shrinks', () => {
    const limits = opened(2)
    const leaseOf = () => lease20
    expect(limits.toTell(leaseOf)).toEqual([])
    limits.admitConnection(holder, lease20)
    expect(limits.toTell(leaseOf)).toEqual([['user u', 3, 3 / 20]])
    limits.closed(holder)
    expect(limits.toTell(leaseOf)).toEqual([])
    limits.changed('u')
    expect(limits.toTell(() => ({ limits: { connections: 4 } }) as never)).toEqual([['user u', 2, 2 / 4]])
  })

  test('no worker loses all, or ends more while the others still end theirs', () => {
    const small = { limits: { connections: 4 } } as never
    const limits = new ConnectionLimits({ ...defaultCaps, processes: 4 })
    for (let n = 0; n < 4; n++) expect(limits.admitConnection(holder, small)).toBeNull()
    expect(limits.setElsewhere([['user u', 30, 4]], () => small, false)).toMatchObject([{ keep: 1 }])
    for (let n = 0; n < 2; n++) limits.closed(holder)
    // Earlier counts again: two are open here, and one of them would end.
    expect(limits.setElsewhere([['user u', 30, 2]], () => small, false)).toEqual([])
  })

  test('a decrease is reported as soon as an increase', () => {
    const limits = opened(2)
    let told = 0
    limits.onMany = () => (told += 1)
    limits.closed(holder)
    expect(told).toBe(0)
    for (let n = 0; n < 5; n++) limits.admitConnection(holder, lease20)
    told = 0
    limits.closed(holder)
    expect(told).toBeGreaterThan(0)
  })
})
