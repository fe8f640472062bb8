import { renderHook } from '@testing-library/react'
import { expect, it } from 'vitest'
import { useIdempotencyKey } from './use-mutation.ts'

it('gives a repeated request its key again until it is answered, and another request another one', () => {
  const { result, rerender } = renderHook(() => useIdempotencyKey())
  const first = result.current.keyFor({ quantity: 8 })
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  rerender()
  expect(result.current.keyFor({ quantity: 8 })).toBe(first)
  const other = result.current.keyFor({ quantity: 16 })
  expect(other).not.toBe(first)
  result.current.forgetKey()
  expect(result.current.keyFor({ quantity: 16 })).not.toBe(other)
})
