import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hourOf, incrementOf, isNothing, type Counts, type Mark } from './record.ts'

const since = '2026-01-01T00:00:00.000Z'
const row = (up: number, more: { since?: string; codes?: Record<string, number> } = {}) => ({
  user: 'u',
  ip: '10.0.0.1',
  since,
  changed: since,
  up,
  down: 2 * up,
  requests: 1,
  errors: 0,
  connections: 1,
  codes: {},
  ...more
})
const counted = { baseline: false, sameEpoch: true }

test('a counter counts in full at first, then its growth, and in full again after it started again', () => {
  const first = incrementOf(row(10), undefined, counted)
  expect(first.grown).toMatchObject({ up: 10, down: 20, requests: 1 })
  const second = incrementOf(row(15), first.mark, counted)
  expect(second.grown).toMatchObject({ up: 5, down: 10, requests: 0 })
  expect(isNothing(incrementOf(row(15), second.mark, counted).grown)).toBe(true)
  expect(incrementOf(row(3, { since: '2026-01-02T00:00:00.000Z' }), second.mark, counted).grown).toMatchObject({
    up: 3
  })
})

test('an older copy of a counter counts nothing until it is ahead of what was read', () => {
  const { mark } = incrementOf(row(100), undefined, counted)
  const older = incrementOf(row(80), mark, counted)
  expect(isNothing(older.grown)).toBe(true)
  expect(incrementOf(row(130), older.mark, counted).grown).toMatchObject({ up: 30 })
  const before = row(500, { since: '2025-12-31T00:00:00.000Z' })
  expect(isNothing(incrementOf(before, mark, counted).grown)).toBe(true)
  // A folder was restored after another installation. Only what it reports beyond its former figures counts.
  const putBack = incrementOf(before, mark, { ...counted, sameEpoch: false })
  expect(isNothing(putBack.grown)).toBe(true)
  expect(incrementOf({ ...before, up: 507 }, putBack.mark, counted).grown).toMatchObject({ up: 7 })
})

test('codes count like figures; what no line carries is cut; a baseline is only remembered', () => {
  const first = incrementOf(row(1, { codes: { quota: 2 } }), undefined, counted)
  expect(incrementOf(row(1, { codes: { quota: 5, idle: 1 } }), first.mark, counted).grown.codes).toEqual({
    quota: 3,
    idle: 1
  })
  expect(incrementOf(row(Number.MAX_SAFE_INTEGER), undefined, counted).grown.up).toBe(1e15)
  const baseline = incrementOf(row(40), undefined, { ...counted, baseline: true })
  expect(isNothing(baseline.grown)).toBe(true)
  expect(incrementOf(row(41), baseline.mark, counted).grown).toMatchObject({ up: 1 })
})

test('in any order of reports, the highest figure counts, once', () => {
  const told = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(told, ups => {
      let mark: Mark | undefined
      const grown: Counts[] = []
      for (const up of ups) {
        const next = incrementOf(row(up), mark, counted)
        ;({ mark } = next)
        grown.push(next.grown)
      }
      expect(grown.reduce((sum, { up }) => sum + up, 0)).toBe(Math.max(...ups))
    })
  )
})

test('traffic belongs to the hour of its last change, between the last reading and now', () => {
  const now = new Date('2026-01-10T12:20:00Z')
  const readAt = new Date('2026-01-10T09:40:00Z')
  const hour = (changed: string, read: Date | null = readAt) => hourOf(changed, { readAt: read, now }).toISOString()
  expect(hour('2026-01-10T10:30:00Z')).toBe('2026-01-10T10:00:00.000Z')
  // A wrong clock moves nothing into past or future hours.
  expect(hour('2026-01-01T00:00:00Z')).toBe('2026-01-10T09:00:00.000Z')
  expect(hour('2027-01-01T00:00:00Z')).toBe('2026-01-10T12:00:00.000Z')
  expect(hour('2026-01-01T00:00:00Z', null)).toBe('2026-01-10T11:00:00.000Z')
})
