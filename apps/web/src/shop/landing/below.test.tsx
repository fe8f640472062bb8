import { onlineManager } from '@tanstack/react-query'
import { act, screen } from '@testing-library/react'
import type { ComponentType } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { Below } from './below.tsx'

const code = vi.fn<() => Promise<ComponentType>>()
const failing = () => code.mockRejectedValueOnce(new Error('the line broke'))
const coming = () => code.mockResolvedValueOnce(() => <p>the rest</p>)

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      private readonly told: (entries: object[]) => void
      constructor(told: (entries: object[]) => void) {
        this.told = told
      }
      observe() {
        this.told([{ isIntersecting: true }])
      }
      disconnect() {}
    }
  )
})
afterEach(() => {
  code.mockReset()
})

const outlined = () => document.querySelector('[aria-hidden] .card') !== null
const later = () => act(() => vi.advanceTimersByTimeAsync(60_000))

it('keeps its outline on a slow line, and tries again until the rest is there', async () => {
  failing()
  failing()
  coming()
  renderAt(<Below load={code} />, { user: null })
  await act(() => vi.advanceTimersByTimeAsync(0))
  expect(code).toHaveBeenCalledTimes(1)
  expect(outlined()).toBe(true)
  await later()
  expect(code).toHaveBeenCalledTimes(3)
  expect(screen.getByText('the rest')).toBeTruthy()
  expect(outlined()).toBe(false)
})

it('ends the page while offline, without attempts, and continues when online', async () => {
  onlineManager.setOnline(false)
  coming()
  renderAt(<Below load={code} />, { user: null })
  await later()
  expect(outlined()).toBe(false)
  expect(code).not.toHaveBeenCalled()
  await act(async () => onlineManager.setOnline(true))
  expect(screen.getByText('the rest')).toBeTruthy()
})

it('tries nothing more for a page that was left', async () => {
  failing()
  const { unmount } = renderAt(<Below load={code} />, { user: null })
  await act(() => vi.advanceTimersByTimeAsync(0))
  unmount()
  await later()
  expect(code).toHaveBeenCalledTimes(1)
})
