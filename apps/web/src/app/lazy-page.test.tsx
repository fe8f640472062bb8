import { MantineProvider } from '@mantine/core'
import { onlineManager } from '@tanstack/react-query'
import { act, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { Suspense } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { Boundary } from './boundary.tsx'
import { lazyPage } from './lazy-page.ts'

/** A page whose code loads while `net.works`. */
function show() {
  const net = { works: false, asked: 0 }
  const Page = lazyPage(() => {
    net.asked += 1
    return net.works
      ? Promise.resolve({ default: () => <p>the page</p> })
      : Promise.reject(new TypeError('Failed to fetch dynamically imported module'))
  })
  render(
    <MantineProvider env="test">
      <p>the menu</p>
      <Boundary within>
        <Suspense>
          <Page />
        </Suspense>
      </Boundary>
    </MantineProvider>
  )
  return net
}
const retry = () => act(async () => fireEvent.click(screen.getByRole('button', { name: 'Try again' })))

describe('a page whose code does not come', () => {
  it('for want of a connection says so beside what is there, and is shown when there is one, without a reload', async () => {
    onlineManager.setOnline(false)
    const net = show()
    expect((await screen.findByRole('alert')).textContent).toContain('You are offline')
    expect(screen.getByText('the menu')).toBeTruthy()
    await retry()
    expect(await screen.findByRole('alert')).toBeTruthy()
    // No attempt, because a browser would cache the failure.
    expect(net.asked).toBe(0)
    net.works = true
    act(() => onlineManager.setOnline(true))
    expect(await screen.findByText('the page')).toBeTruthy()
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it('although there is a connection loads everything again, but only from a shop that answers', async () => {
    const reload = vi.spyOn(window.location, 'reload').mockImplementation(() => {})
    show()
    expect((await screen.findByRole('alert')).textContent).toContain('This page cannot be loaded')
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
    await retry()
    expect(screen.getByText('the menu')).toBeTruthy()
    expect(reload).not.toHaveBeenCalled()
    vi.stubGlobal('fetch', () => Promise.resolve(new Response()))
    await retry()
    await waitFor(() => expect(reload).toHaveBeenCalledTimes(1))
  })

  it('is given up within a minute', async () => {
    vi.useFakeTimers()
    const Page = lazyPage(() => new Promise<never>(() => {}))
    const loading = Page.preload()
    const failed = vi.fn()
    loading.catch(failed)
    await vi.advanceTimersByTimeAsync(40_000)
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(failed).toHaveBeenCalledTimes(1)
  })
})

it('a page that was loaded before it is shown is asked for once', async () => {
  let asked = 0
  const Page = lazyPage(() => {
    asked += 1
    return Promise.resolve({ default: () => <p>the page</p> })
  })
  await Page.preload()
  await Page.preload()
  render(
    <Suspense>
      <Page />
    </Suspense>
  )
  expect(await screen.findByText('the page')).toBeTruthy()
  expect(asked).toBe(1)
})

it('a page that breaks says so', async () => {
  const Page = () => {
    throw new Error('broken')
  }
  render(
    <MantineProvider env="test">
      <Boundary>
        <Page />
      </Boundary>
    </MantineProvider>
  )
  expect((await screen.findByRole('alert')).textContent).toContain('This page cannot be displayed')
})
