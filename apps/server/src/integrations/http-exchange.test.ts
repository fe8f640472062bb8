import { expect, test } from 'vitest'
import { HOUR, MINUTE } from '../infra/clock.ts'
import { retryAfterMs } from './http-exchange.ts'

test('Retry-After is read in both notations, within bounds', () => {
  const wait = (header: string | null | undefined) => retryAfterMs(header, new Date('2026-11-23T10:00:00Z'), 12 * HOUR)
  expect(wait('120')).toBe(120_000)
  expect(wait(' 0.25 ')).toBe(250)
  expect(wait('Mon, 23 Nov 2026 10:01:00 GMT')).toBe(MINUTE)
  for (const nothing of [undefined, null, '', '-5', 'soon', 'Mon, 23 Nov 2026 09:00:00 GMT'])
    expect(wait(nothing)).toBe(0)
  expect(wait('999999999')).toBe(12 * HOUR)
})
