import { expect, test } from 'vitest'
import { auditQuery } from './audit.ts'
import { Day, Instant } from './shapes.ts'

test.each(['1970-01-01', '2026-03-01', '2028-02-29', '9998-12-31'])('a day can be %s', day => {
  expect(Day().parse(day)).toBe(day)
})

test.each(['0000-01-01', '0001-01-01', '1969-12-31', '2026-02-29', '9999-01-01', '+010000-01-01', 'tomorrow', ''])(
  'a day cannot be "%s"',
  day => {
    const { error } = Day('No such day').safeParse(day)
    expect(new Set(error?.issues.map(({ message }) => message))).toEqual(new Set(['No such day']))
  }
)

test.each([
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['1969-12-31T14:00:00-10:00', '1970-01-01T00:00:00.000Z'],
  // A larger offset than PostgreSQL accepts.
  ['2026-03-01T22:30:00+23:00', '2026-02-28T23:30:00.000Z'],
  ['9999-01-01T09:00:00+10:00', '9998-12-31T23:00:00.000Z'],
  ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z']
])('the instant %s is %s', (given, utc) => {
  expect(Instant().parse(given)).toBe(utc)
})

test.each([
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '1970-01-01T00:00:00+01:00',
  '9998-12-31T23:00:00-10:00',
  '9999-12-31T23:59:59Z',
  '+010000-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-03-01T12:00:00',
  '2026-03-01',
  ''
])('an instant cannot be "%s"', given => {
  const { error } = Instant('No such time').safeParse(given)
  expect(error?.issues.map(({ message }) => message)).toEqual(['No such time'])
})

test('a span of the audit log is of days, of instants, or open', () => {
  expect(auditQuery.parse({ from: '2026-03-01', until: '2026-03-02T01:00:00+02:00' })).toMatchObject({
    from: '2026-03-01',
    until: '2026-03-01T23:00:00.000Z'
  })
  expect(auditQuery.parse({ from: '' }).from).toBeUndefined()
  for (const from of ['0000-01-01', '0000-01-01T00:00:00Z']) expect(auditQuery.safeParse({ from }).success).toBe(false)
})
