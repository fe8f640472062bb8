import { describe, expect, it } from 'vitest'
import { durationText, money, numberText, unitText } from './money.ts'
import { relativeTime } from './time.tsx'
import { clock, secondsLeft } from './use-countdown.ts'
import { pageWithin } from './use-paging.ts'
import { webAddress } from './web-address.ts'

describe('money', () => {
  it.each([
    ['0.00', '$0.00'],
    ['12.3', '$12.30'],
    ['1234567.89', '$1,234,567.89'],
    ['-1000.00', '-$1,000.00'],
    ['9007199254740993.01', '$9,007,199,254,740,993.01']
  ])('shows %s as %s', (amount, text) => expect(money(amount)).toBe(text))
})

describe('a number', () => {
  it('has its thousands apart', () => {
    expect(numberText(65_361)).toBe('65,361')
    expect(numberText(-1234.5)).toBe('-1,234.5')
    expect(numberText(1.55, { maximumFractionDigits: 0 })).toBe('2')
  })
  it('has its unit in the chosen language', () => {
    expect(unitText(1.25, 'en', { unit: 'hour', maximumFractionDigits: 1 })).toBe('1.3 hr')
    expect(unitText(30, 'zh-CN', { unit: 'day', unitDisplay: 'long' })).toBe('30天')
  })
})

it('words a duration in the largest unit that keeps it short', () => {
  expect([0.04, 59.9, 59.96, 75, 3596, 3600, 180_000].map(seconds => durationText(seconds, 'en'))).toEqual([
    '0 sec',
    '59.9 sec',
    '1 min',
    '1.3 min',
    '59.9 min',
    '1 hr',
    '2.1 days'
  ])
})

describe('the countdown', () => {
  it('counts started seconds and never below 0', () => {
    expect(secondsLeft(10_000, 0)).toBe(10)
    expect(secondsLeft(10_000, 1)).toBe(10)
    expect(secondsLeft(10_000, 9_999)).toBe(1)
    expect(secondsLeft(10_000, 10_001)).toBe(0)
  })
  it('shows minutes and, where there are any, hours', () => {
    expect(clock(1800)).toBe('30:00')
    expect(clock(59)).toBe('00:59')
    expect(clock(3661)).toBe('1:01:01')
  })
})

describe('relative time', () => {
  const now = Date.parse('2026-06-15T12:00:00Z')
  it.each([
    [-5, '5 seconds ago'],
    [90, 'in 1 minute'],
    [-7200, '2 hours ago'],
    [3 * 86_400, 'in 3 days'],
    [-20 * 86_400, '2 weeks ago'],
    [90 * 86_400, 'in 3 months'],
    [-800 * 86_400, '2 years ago']
  ])('%d seconds', (seconds, text) => expect(relativeTime(now + seconds * 1000, now, 'en')).toBe(text))
  it.each([
    [26, 'tomorrow'],
    [45, 'in 2 days'],
    [-26, 'yesterday'],
    [-45, '2 days ago']
  ])('%d hours from noon: by the days of the calendar', (hours, text) => {
    const noon = new Date(2026, 5, 15, 12).getTime()
    expect(relativeTime(noon + hours * 3_600_000, noon, 'en')).toBe(text)
  })
})

describe('paging', () => {
  it('moves back where the last row of the last page is gone', () => {
    expect(pageWithin(3, 10, 20)).toBe(2)
    expect(pageWithin(2, 10, 11)).toBe(2)
    expect(pageWithin(1, 10, 0)).toBe(1)
  })
})

describe('web addresses', () => {
  it('takes only what a browser may open', () => {
    expect(webAddress('discord.gg/x')).toBe('https://discord.gg/x')
    expect(webAddress('http://127.0.0.1:3001/pay')).toBe('http://127.0.0.1:3001/pay')
    // oxlint-disable-next-line no-script-url -- it is the point
    for (const bad of ['', null, 'javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', 'https://'])
      expect(webAddress(bad)).toBeUndefined()
  })
})
