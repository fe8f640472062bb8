import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { order } from '../../testing/shapes.ts'
import { dayText, Expiry, timeLeft, urgency } from './expiry.tsx'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('when an order ends', () => {
  it.each([
    [30 * DAY, '30 days', 'far'],
    [7 * DAY, '7 days', 'far'],
    [7 * DAY - 1, '6 days', 'soon'],
    [6 * DAY, '6 days', 'soon'],
    [3 * DAY, '3 days', 'soon'],
    [3 * DAY - 1, '2 days', 'verySoon'],
    [2 * DAY, '2 days', 'verySoon'],
    [2 * DAY - 1, '47 hours', 'verySoon'],
    [DAY, '24 hours', 'verySoon'],
    [2 * HOUR - 1, '1 hour', 'verySoon'],
    [HOUR - 1, '59 minutes', 'verySoon'],
    [1, '0 minutes', 'verySoon']
  ])('in %d ms is said as %s', (left, text, level) => {
    expect(timeLeft(left, 'en')).toBe(text)
    expect(urgency(left)).toBe(level)
  })

  it('names the year where it is another one', () => {
    const now = Date.parse('2026-11-24T12:00:00Z')
    expect(dayText('2026-12-23T12:00:00Z', now, 'en')).toBe('Dec 23')
    expect(dayText('2027-01-02T12:00:00Z', now, 'en')).toBe('Jan 2, 2027')
    expect(dayText('2026-12-23T12:00:00Z', now, 'zh-CN')).toBe('12月23日')
  })

  it('is told in words, not by its colour alone', () => {
    const ends = (days: number) => new Date(Date.now() + days * DAY + HOUR).toISOString()
    renderAt(
      <>
        <Expiry order={{ ...order, expired_at: ends(29) }} />
        <Expiry order={{ ...order, expired_at: ends(5) }} />
        <Expiry order={{ ...order, expired_at: ends(2) }} />
      </>
    )
    const [far, soon, verySoon] = screen.getAllByText(/ days/)
    expect(far?.textContent).toMatch(/, 29 days$/)
    expect(soon?.textContent).toMatch(/, 5 days \(ends soon\)$/)
    expect(verySoon?.textContent).toMatch(/, 2 days \(ends very soon\)$/)
  })
})
