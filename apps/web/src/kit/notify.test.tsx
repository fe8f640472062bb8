import { act, fireEvent, screen } from '@testing-library/react'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { ApiError } from '../api/client.ts'
import { failureText } from '../i18n/failures.ts'
import { setLanguage } from '../i18n/language.ts'
import { renderAt } from '../testing/render.tsx'
import { readingTime } from './message.ts'
import { notify } from './notify.ts'

const say = (...message: Parameters<typeof notify>) => act(async () => notify(...message))
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms))

// Load the code of messages first, so that fake timers need not wait for it.
beforeAll(() => Promise.all([import('./show-toast.tsx'), import('./toaster.tsx')]))

describe('a message', () => {
  it('that is said again stays one, and counts', async () => {
    renderAt(null)
    await say('bad', 'Please select')
    await screen.findByText('Please select')
    await say('bad', 'Please select')
    await say('bad', 'Please select')
    await say('good', 'Saved')
    await screen.findByText('Saved')
    expect(screen.getAllByRole('alert')).toHaveLength(2)
    expect(screen.getByText('Please select').textContent).toBe('Please select (3 times)')
  })

  it('restarts its time when it is repeated, and stays under the pointer', async () => {
    vi.useFakeTimers()
    renderAt(null)
    await say('info', 'Checking', 400)
    const toast = screen.getByText('Checking').closest('[role="alert"]') as HTMLElement
    await pass(300)
    await say('info', 'Checking', 400)
    await pass(300)
    fireEvent.mouseEnter(toast)
    await pass(600)
    expect(screen.getByText('Checking').textContent).toBe('Checking (2 times)')
    fireEvent.mouseLeave(toast)
    await pass(1000)
    expect(screen.queryByText('Checking')).toBeNull()
    await say('info', 'Checking', 400)
    expect(screen.getByText('Checking').textContent).toBe('Checking')
  })

  it.each([
    ['good', 'Saved', 1500],
    ['good', 'x'.repeat(40), 2400],
    ['info', 'x'.repeat(300), 3000],
    ['bad', 'Out of stock', 3000],
    ['bad', 'x'.repeat(300), 3000]
  ] as const)('stays 1.5 to 3 seconds: %s, %s', (kind, words, ms) => {
    expect(readingTime(kind, words)).toBe(ms)
  })

  it('of a failure follows the language', async () => {
    renderAt(null)
    await say('bad', () => failureText(new ApiError('timeout', '')))
    await screen.findByText('The shop took too long to respond. Please try again.')
    await act(() => setLanguage('zh-CN'))
    expect(screen.queryByText('The shop took too long to respond. Please try again.')).toBeNull()
    expect(screen.getByRole('alert').textContent).toContain(failureText(new ApiError('timeout', '')))
  })
})
