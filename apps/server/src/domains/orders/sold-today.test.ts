import { expect, test } from 'vitest'
import { refusedByStock } from './sale-check.ts'

const line = (variant: string, quantity = 8) => ({ variant, name: `Variant ${variant}`, quantity })

test.for([
  { name: 'all lines of a variant fit', lines: [line('1'), line('2'), line('2')], left: 16, reason: null },
  { name: 'two rules share a variant of which one more is needed', lines: [line('1'), line('2'), line('2')], left: 15 },
  { name: 'one line is too large', lines: [line('1'), line('2', 16)], left: 15 }
])('by the platform’s stock, where $name', ({ lines, left, reason = 'short_on_platform' }) => {
  const there = new Map([['2', { stock: 'counted', left }]])
  expect(refusedByStock(lines, there)?.reason ?? null).toBe(reason)
})
