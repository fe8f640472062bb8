import { expect, test } from 'vitest'
import { type Quota, Quotas } from './quotas.ts'

function quotasOf(given: Record<string, Quota>) {
  const present = new Map(Object.entries(given))
  return { present, quotas: new Quotas(user => present.get(user)) }
}

test('a quota is spent once all its bytes are used, which is reported once', () => {
  const { quotas } = quotasOf({ u: { id: 'q1', bytes: 100 }, v: { id: 'q2', bytes: 100 } })
  quotas.add('u', 60)
  quotas.add('stranger', 1000)
  expect(quotas.takeSpent()).toBe(null)
  quotas.add('u', 39)
  expect(quotas.takeSpent()).toBe(null)
  quotas.add('u', 1)
  expect(quotas.takeSpent()).toEqual(['u q1'])
  expect(quotas.takeSpent()).toBe(null)
  quotas.add('u', 50)
  expect(quotas.takeSpent()).toBe(null)
  quotas.add('v', 100)
  expect(quotas.takeSpent()).toEqual(['u q1', 'v q2'])
  expect(quotas.saved()).toEqual([
    { user: 'u', id: 'q1', used: 150 },
    { user: 'v', id: 'q2', used: 100 }
  ])
})

test.each<[string, Quota | undefined, string[] | null]>([
  ['another', { id: 'q2', bytes: 100 }, []],
  ['more of the same', { id: 'q1', bytes: 101 }, []],
  ['none', undefined, []],
  ['less of the same', { id: 'q1', bytes: 10 }, null]
])('a user with a spent quota gets %s', (_what, quota, spent) => {
  const { present, quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.add('u', 100)
  quotas.takeSpent()
  if (quota === undefined) present.delete('u')
  else present.set('u', quota)
  expect(quotas.takeSpent()).toEqual(spent)
  expect(quotas.takeSpent()).toBe(null)
})

test('a new quota starts at zero', () => {
  const { present, quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.add('u', 90)
  present.set('u', { id: 'q2', bytes: 100 })
  expect(quotas.saved()).toEqual([])
  quotas.add('u', 90)
  expect([quotas.takeSpent(), quotas.saved()]).toEqual([null, [{ user: 'u', id: 'q2', used: 90 }]])
  quotas.add('u', 10)
  expect(quotas.takeSpent()).toEqual(['u q2'])
})

test('a new quota starts at zero at once, not only after the counts were saved', () => {
  const { present, quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.add('u', 90)
  present.set('u', { id: 'q2', bytes: 100 })
  quotas.add('u', 90)
  expect([quotas.takeSpent(), quotas.saved()]).toEqual([null, [{ user: 'u', id: 'q2', used: 90 }]])
})

test('saved use counts on, and is spent only for a user who still has that quota', () => {
  const { present, quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.load([])
  expect(quotas.takeSpent()).toBe(null)
  quotas.load([
    { user: 'u', id: 'q1', used: 100 },
    { user: 'gone', id: 'q0', used: 100 },
    { user: 'half', id: 'q3', used: 50 }
  ])
  present.set('half', { id: 'q3', bytes: 100 })
  expect(quotas.takeSpent()).toEqual(['u q1'])
  quotas.add('half', 50)
  expect(quotas.takeSpent()).toEqual(['u q1', 'half q3'])
  expect(quotas.saved().map(({ user }) => user)).toEqual(['u', 'half'])
})

test('a quota that was spent before a restart is reported', () => {
  const { quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.load([{ user: 'u', id: 'q1', used: 100 }])
  expect(quotas.takeSpent()).toEqual(['u q1'])
})

test('a quota that returns after another one starts at zero', () => {
  const { present, quotas } = quotasOf({ u: { id: 'q1', bytes: 100 } })
  quotas.add('u', 100)
  present.set('u', { id: 'q2', bytes: 100 })
  expect(quotas.saved()).toEqual([])
  present.set('u', { id: 'q1', bytes: 100 })
  expect(quotas.takeSpent()).toEqual([])
})
